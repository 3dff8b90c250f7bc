-- Owner: ledger. Entries up to block 9,999 of a chain that was younger when it was first followed were told as late.
update ledger_told t set late_to = c.head_number
from chain_cursors c where c.chain_id = t.chain_id and t.late_to > c.head_number;
