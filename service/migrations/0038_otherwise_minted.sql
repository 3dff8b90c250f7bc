-- Owner: positions. Finds the mints that name no price among many that do.
create index share_mints_otherwise_idx on share_mints (vault_id, block_number) where assets is null;
