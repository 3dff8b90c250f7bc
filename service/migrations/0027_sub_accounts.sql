-- Owner: positions. Derived. Which account owns the 256 that share its first 19 bytes, as a declared forwarder registered it
-- (Euler's connector: OwnerRegistered). The first registration of a forwarder stays.
create table sub_account_owners (
  chain_id bigint not null,
  block_number bigint not null,
  forwarder bytea not null,
  prefix bytea not null,
  owner bytea not null,
  primary key (chain_id, forwarder, prefix)
);
create index sub_account_owners_block_idx on sub_account_owners (chain_id, block_number);

create unlogged table rebuilt_sub_account_owners (like sub_account_owners) with (autovacuum_enabled = off);
create unique index rebuilt_sub_account_owners_key on rebuilt_sub_account_owners (chain_id, forwarder, prefix);
