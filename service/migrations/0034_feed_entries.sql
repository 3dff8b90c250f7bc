-- Finds the events of an entry: ListInteractions goes on after one, and leaves out what was told again or taken back later.
create index feed_entries on feed using hash ((data ->> 'id'))
  where type in ('interaction.confirmed', 'interaction.retracted');
