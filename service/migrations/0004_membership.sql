-- Membership: users and their wallets, and agreements waiting for a signature. A wallet address is kept in the
-- normal form of its ecosystem (EVM lower-case).
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
  chain_id numeric(78, 0),
  message text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index agreements_expires_at_idx on agreements (expires_at);
