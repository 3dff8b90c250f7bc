-- Owner: plans. Intents: what a caller asked us to build. Ours, not the chain's; what became of one is found on the chain.
create table actions (
  id uuid primary key,
  kind text not null check (kind in ('deposit', 'withdraw', 'claim-deposit', 'cancel-deposit', 'swap')),
  organization_id uuid not null references organizations (id),
  -- Null for the claim or cancellation of a deposit nobody brought.
  distributor_id text references distributors (id),
  opportunity_id uuid references opportunities (id),
  chain_id bigint not null,
  wallet text not null,
  token_in text not null,
  token_in_decimals integer not null,
  amount numeric(78, 0) not null,
  amount_usd numeric,
  referral_code text not null default '',
  -- The attributed call: what the wallet calls and keccak256 of its data before our suffix.
  target text not null,
  call_hash text not null,
  created_at timestamptz not null,
  valid_until timestamptz not null,
  -- What the wallet gets.
  token_out text,
  -- A block no later than the plan; null where none was known.
  plan_block bigint,
  -- Up to which block, and its time, transfers of the wallet were looked through for the action.
  looked_to bigint,
  looked_at timestamptz
);
create index actions_organization_id_idx on actions (organization_id);
create index actions_distributor_id_idx on actions (distributor_id);
create index actions_opportunity_id_idx on actions (opportunity_id);
create index actions_wallet_idx on actions (chain_id, wallet, created_at);
create index actions_looked_to_idx on actions (chain_id, looked_to) where looked_to is not null;
