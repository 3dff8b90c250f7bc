-- Owner: ledger. `ledger_told` says up to which block entries were told to others as events; `ledger_changes` are entries up
-- to that block that were written or removed since, in order. Both are records.
create table ledger_told (
  chain_id bigint primary key,
  told_to bigint not null,
  -- Entries up to here were made before the chain was followed: they are told as late.
  late_to bigint not null
);
-- The past of an installation that has one is not told.
insert into ledger_told (chain_id, told_to, late_to)
select c.chain_id, greatest(confirmed, c.start_block - 1), c.head_number
from chain_cursors c join chains ch on ch.chain_id = c.chain_id,
  lateral (select least(c.block_number, greatest(c.head_number - ch.confirmations + 1, coalesce(c.finalized_number, -1)))) d (confirmed);

create table ledger_changes (
  seq bigint generated always as identity primary key,
  is_gone boolean not null,
  like interactions
);
create index ledger_changes_chain_idx on ledger_changes (chain_id, seq);

-- Whoever changes what was told already is noticed, whichever way it does so: a reorganisation, a source that joins, a
-- repair, a rebuild.
create function note_ledger_changes() returns trigger language plpgsql as $$
begin
  insert into ledger_changes (is_gone, id, chain_id, vault_id, kind, block_number, block_hash, block_timestamp,
    transaction_hash, transaction_index, log_index, wallet, distributor_id, attribution, assets, shares, amount, is_swap,
    amount_usd, price_observation_id)
  select tg_op = 'DELETE', r.* from changed r join ledger_told t on t.chain_id = r.chain_id and r.block_number <= t.told_to
  order by r.block_number, r.log_index, r.id;
  return null;
end $$;
create trigger interactions_written after insert on interactions referencing new table as changed
  for each statement execute function note_ledger_changes();
create trigger interactions_removed after delete on interactions referencing old table as changed
  for each statement execute function note_ledger_changes();
