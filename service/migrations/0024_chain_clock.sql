-- Owner: rpc. Which clock a chain keeps: that of the world, or its own (a development chain whose time is moved, or which makes a
-- block only when something is sent). A head that is late by the wall clock says nothing of a chain with its own clock.
alter table chains add column clock text not null default 'wall' check (clock in ('wall', 'chain'));
