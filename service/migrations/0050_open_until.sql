-- Owner: positions. A deposit that may be given back is closed by time: the last second in which it can be stands in it. Of those that are
-- there already the vault told it, as the time of the deposit and the seconds after it, which are its last two words.
alter table requests add column open_until numeric(78, 0);
alter table rebuilt_requests add column open_until numeric(78, 0);
update requests r set open_until =
  ('x' || encode(substring(l.data from octet_length(l.data) - 39 for 8), 'hex'))::bit(64)::bigint::numeric
  + ('x' || encode(substring(l.data from octet_length(l.data) - 7 for 8), 'hex'))::bit(64)::bigint::numeric
from logs l
where r.kind = 'refund' and l.chain_id = r.chain_id and l.block_number = r.block_number and l.log_index = r.log_index;
