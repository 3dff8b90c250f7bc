-- Owner: rpc. The lending markets whose positions portfolios tell; null: none. Databases made in between have it already.
alter table chains add column if not exists lending jsonb;
