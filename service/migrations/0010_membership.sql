-- Owner: membership. Users and their wallets, and agreements waiting for a signature: our own state, which cannot be
-- recomputed. A wallet address is kept in the normal form of its ecosystem (EVM lower-case).
create table users (
  id uuid primary key,
  signup_distributor_id text references distributors (id),
  created_at timestamptz not null default now()
);
create index users_signup_distributor_id_idx on users (signup_distributor_id);

create table memberships (
  ecosystem text not null check (ecosystem in ('evm', 'solana', 'ton')),
  address text not null,
  user_id uuid not null references users (id),
  created_at timestamptz not null default now(),
  primary key (ecosystem, address)
);
create index memberships_user_id_idx on memberships (user_id);

-- The message is verified as stored, byte for byte; the row goes when it is used or has expired.
create table agreements (
  nonce text primary key,
  ecosystem text not null,
  address text not null,
  -- The host the message names.
  domain text not null,
  -- The message may name any chain there is: up to 78 digits, as the caller wrote them.
  chain_id numeric(78, 0),
  message text not null,
  -- Whose key asked.
  organization_id uuid not null references organizations (id),
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index agreements_expires_at_idx on agreements (expires_at);
create index agreements_wallet_idx on agreements (ecosystem, address, organization_id);
create index agreements_organization_id_idx on agreements (organization_id);

-- What happened to memberships, for the record: append-only, never read by the service itself. `joined` keeps what the
-- wallet signed and how; `linked` and `unlinked` are an operator's doing and carry no key.
create table membership_events (
  id uuid primary key,
  at timestamptz not null,
  kind text not null check (kind in ('joined', 'linked', 'unlinked')),
  ecosystem text not null,
  address text not null,
  user_id uuid not null references users (id),
  key_id uuid references api_keys (id),
  message text,
  signature text,
  check ((kind = 'joined') = (key_id is not null and message is not null and signature is not null))
);
create index membership_events_wallet_idx on membership_events (ecosystem, address);
create index membership_events_user_id_idx on membership_events (user_id);
create index membership_events_key_id_idx on membership_events (key_id);
