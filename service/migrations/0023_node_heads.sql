-- Owner: sync. Observations of the newest look at a chain. `node_head` is the head of a node that did not show the block that the
-- cursor stands on: it lags, was restored from a backup, or has another chain; `tip_missed_since` is when that began. Both are
-- null where the node shows that block.
alter table chain_cursors add column node_head bigint;
alter table chain_cursors add column tip_missed_since timestamptz;
