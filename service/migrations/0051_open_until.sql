-- Owner: positions. A deposit that may be given back is closed by time: the last second in which it can be stands in it. Of those that are
-- there already a rebuild tells it; until then they stay open.
alter table requests add column open_until numeric(78, 0);
alter table rebuilt_requests add column open_until numeric(78, 0);
