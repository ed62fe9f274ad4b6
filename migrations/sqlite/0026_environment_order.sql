-- The order of the environments of a product, in which the dashboard lists them: 1 for the first. New environments come last.
-- Null, for those that an instance of an earlier release creates during an update, is after all numbers.
alter table environments add column position bigint;

-- So far, names have determined the order: from development to production.
with named as (
    select id, product, name, ' ' || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
        replace(replace(replace(replace(replace(
            lower(name), '-', ' '), '_', ' '), '.', ' '), '/', ' '), ':', ' '), '0', ' '), '1', ' '), '2', ' '), '3', ' '),
        '4', ' '), '5', ' '), '6', ' '), '7', ' '), '8', ' '), '9', ' ') || ' ' as words
    from environments where status = 'active'
), ranked as (
    select id, product, name, case
        when words like '% production %' or words like '% prod %' or words like '% prd %' or words like '% live %' then 4
        when words like '% dev %' or words like '% develop %' or words like '% development %' or words like '% local %' then 0
        when words like '% test %' or words like '% testing %' or words like '% ci %' or words like '% qa %'
            or words like '% integration %' then 1
        when words like '% staging %' or words like '% stage %' or words like '% preview %' or words like '% preprod %'
            or words like '% uat %' or words like '% acceptance %' then 3
        else 2 end as place
    from named
), ordered as (
    select id, row_number() over (partition by product order by place, name) as position from ranked
)
update environments set position = (select ordered.position from ordered where ordered.id = environments.id)
where status = 'active';
