-- How many installs of a product are on trial, on the free tier, or past their trial, and have no license: counted beside
-- them, since a product may have millions and whoever looks at it asks each time. An install counts until a license is
-- activated in its place, and again when it reports after that.
create table usage.unlicensed (
  tenant_id text not null,
  product_id text not null,
  state text not null,
  installs bigint not null,
  primary key (tenant_id, product_id, state)
) with (fillfactor = 50);

-- In the order of the keys, so that no two processes wait for each other.
create function usage.add_unlicensed(changes usage.unlicensed[]) returns void language sql
begin atomic
  insert into usage.unlicensed as u (tenant_id, product_id, state, installs)
  select tenant_id, product_id, state, sum(installs)
  from unnest(changes) group by tenant_id, product_id, state having sum(installs) <> 0
  order by tenant_id, product_id, state
  on conflict (tenant_id, product_id, state) do update set installs = u.installs + excluded.installs;
end;

-- Whoever writes installs, and however: the difference between what a statement has found and what it has left.
create function usage.count_unlicensed() returns trigger language plpgsql as $$
declare
  changes usage.unlicensed[] := '{}';
begin
  if tg_op <> 'INSERT' then
    changes := array(
      select row(tenant_id, product_id, state, -1)::usage.unlicensed from before_it
      where converted_at is null or last_seen_at > converted_at
    );
  end if;
  if tg_op <> 'DELETE' then
    changes := changes || array(
      select row(tenant_id, product_id, state, 1)::usage.unlicensed from after_it
      where converted_at is null or last_seen_at > converted_at
    );
  end if;
  perform usage.add_unlicensed(changes);
  return null;
end $$;

create trigger count_inserted after insert on usage.installs
  referencing new table as after_it for each statement execute function usage.count_unlicensed();
create trigger count_updated after update on usage.installs
  referencing old table as before_it new table as after_it
  for each statement execute function usage.count_unlicensed();
create trigger count_deleted after delete on usage.installs
  referencing old table as before_it for each statement execute function usage.count_unlicensed();

-- With writers kept off by the triggers' making.
insert into usage.unlicensed
select tenant_id, product_id, state, count(*) from usage.installs
where converted_at is null or last_seen_at > converted_at
group by tenant_id, product_id, state;
