-- How often the product had turned keyRecovery off when the key was kept. After the next time the key is left over, also when
-- the setting is on again. Null for keys from before this column: they belong to the present period of their product.
alter table vault.kept_keys add column period int;
drop index vault.kept_keys_of_product;
create index kept_keys_of_product on vault.kept_keys (tenant_id, product_id, period);
