-- Owner: rpc. Transactions this installation sends itself, one queue a chain and key. What is signed is written down before
-- any node sees it, so that after a crash the same bytes go out again and nothing is sent twice.
create table senders (
  chain_id bigint not null,
  address bytea not null,
  -- The count of the key's transactions that are taken as they are: those before the first of this installation, and those an
  -- operator accepted since. The next nonce follows from it and from the nonces of our own. Whoever takes it holds this row until
  -- the signed transaction is written.
  accepted_count bigint check (accepted_count >= 0),
  -- Why nothing is signed with the key now, since when; and that an operator lets it go on.
  stopped text,
  stopped_at timestamptz,
  release_asked_at timestamptz,
  primary key (chain_id, address)
);

create table outgoing_transactions (
  id uuid primary key,
  chain_id bigint not null,
  nonce bigint,
  created_at timestamptz not null,
  -- When it was first signed: what it may cost counts against the day from then on.
  reserved_at timestamptz,
  block_number bigint,
  cancelling boolean not null default false,
  sender bytea not null,
  target bytea not null,
  transaction_hash bytea,
  data bytea not null,
  value numeric(78, 0) not null default 0 check (value >= 0),
  gas_limit numeric(78, 0),
  -- The most it may cost, and once it is mined what it did, in the smallest unit of the native token.
  reserved numeric(78, 0),
  cost numeric(78, 0),
  state text not null default 'queued'
    check (state in ('queued', 'sent', 'confirmed', 'reverted', 'cancelled', 'failed')),
  -- What it is for.
  purpose text not null,
  -- Why it waits, or why it failed.
  reason text,
  -- The most it may cost, in the smallest unit of the native token.
  cost_max numeric(78, 0) not null check (cost_max >= 0),
  -- Why a queued transaction is not sent now: what it would cost, what its key holds, what is left of the day.
  held text check (held in ('tooDear', 'noFunds', 'dayBudget')),
  -- A transaction is looked at until its block is final: a reorganisation may drop it again.
  is_final boolean not null default false,
  check ((nonce is null) = (state in ('queued', 'failed') or (state = 'cancelled' and transaction_hash is null)))
);
create unique index outgoing_transactions_nonce_idx on outgoing_transactions (chain_id, sender, nonce);
create index outgoing_transactions_open_idx on outgoing_transactions (chain_id, sender, created_at, id)
  where state in ('queued', 'sent');
create index outgoing_transactions_day_idx on outgoing_transactions (chain_id, sender, reserved_at)
  where reserved_at is not null;
create index outgoing_transactions_watched_idx on outgoing_transactions (chain_id, sender, nonce)
  where nonce is not null and not is_final;

-- Every signed form of a transaction: the first, dearer ones of the same nonce, and the empty one that cancels it.
create table outgoing_attempts (
  transaction_id uuid not null references outgoing_transactions (id),
  nonce bigint not null,
  attempt integer not null check (attempt >= 1),
  -- The head when it was signed.
  head_number bigint not null,
  signed_at timestamptz not null,
  is_cancellation boolean not null,
  hash bytea not null unique,
  raw bytea not null,
  max_fee numeric(78, 0) not null,
  tip numeric(78, 0) not null,
  -- Whether a node took the form when it was last handed to one; null: no answer is known.
  taken boolean,
  primary key (transaction_id, nonce, attempt)
);
