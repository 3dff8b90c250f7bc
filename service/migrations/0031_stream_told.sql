-- Owner: streams. Up to which block of a chain claims were told to others: a record.
create table stream_told (
  chain_id bigint primary key,
  claims_to bigint not null
);
