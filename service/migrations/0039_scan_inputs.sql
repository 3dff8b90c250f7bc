-- Owner: rpc. Whether the inputs of all transactions of each new block are read for suffixes of ours: a full block each time.
alter table chains add column scan_inputs boolean not null default false;
