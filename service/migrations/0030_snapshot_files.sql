-- Owner: streams. The reward file of a snapshot is there as long as the snapshot: two of the same inputs share theirs, and
-- neither may lose it with the other. It is checked at the end of a transaction, in whatever order rows are written.
alter table stream_snapshots add constraint stream_snapshots_file_hash_fkey
  foreign key (file_hash) references stream_files (hash) deferrable initially deferred;
create index stream_snapshots_file_hash_idx on stream_snapshots (file_hash);
