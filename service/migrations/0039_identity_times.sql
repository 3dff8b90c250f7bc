-- Owner: snapshots. When a vault was read to be what: what is paid by its shares is counted by time, not by block. Null in rows
-- that were stored before.
alter table vault_identities add column block_timestamp timestamptz;
