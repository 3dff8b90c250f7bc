-- Owner: events. Records of the last state of a subject that others were told of, by group; the empty id says that the group
-- was looked at: what held before is not told.
create table told_states (
  group_name text collate "C" not null,
  id text collate "C" not null,
  state text not null,
  primary key (group_name, id)
);
