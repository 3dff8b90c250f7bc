-- Owner: positions. Observations: of requests that claims of a block may be of, what the vault answered of each at the block and
-- at its parent, pending and claimable together; null where nobody answered. Removed only with an orphaned block.
create table request_readings (
  chain_id bigint not null,
  block_number bigint not null,
  vault bytea not null check (length(vault) = 20),
  kind text not null check (kind in ('deposit', 'redeem')),
  controller bytea not null check (length(controller) = 20),
  request_id numeric(78, 0) not null,
  before numeric(78, 0),
  after numeric(78, 0),
  primary key (chain_id, block_number, vault, kind, controller, request_id)
);
