-- What stands behind the orders of the ledger's lists. Equal entries are in ascending order of id in both directions: where
-- many are equal, lists walk one value after the other, by id within each.
-- The entries without a price come last in both directions, so descending needs an index of its own.
create index interactions_usd_desc_idx on interactions (amount_usd desc nulls last, id);
create index interactions_kind_id_idx on interactions (kind, id);
create index interactions_distributor_id_idx on interactions (distributor_id, id);
create index interactions_vault_id_idx on interactions (vault_id, id);
create index opportunities_name_idx on opportunities (lower(name) collate "C", id);
-- A distributor's entries by opportunity: without it, vaults that hold none of them would be read from end to end.
create index interactions_vault_distributor_idx on interactions (vault_id, distributor_id, id);
