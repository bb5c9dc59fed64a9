/**
 * The joins of every lookup by license key to its parameters `q`: the key `k`, the license `l` whose current key it is,
 * and the license's key type `y`. Each lookup selects only the columns that it needs. A key of another format is looked up
 * by two hashes. A license may be stored under each: an import with the plain hash that was undone, and the import after
 * it, whose keyed hash begins with a letter beyond hexadecimal digits and so comes first.
 */
export const licenseOfKey = `
  left join lateral (
    select license_id, current, person_id, is_seated from license_keys
    where tenant_id = q.tenant_id and product_id = q.product_id and key_hash in (q.key_hash, q.keyed_hash)
    order by key_hash desc limit 1
  ) k on true
  left join licenses l on l.license_id = k.license_id and k.current
  left join key_types y
    on y.tenant_id = l.tenant_id and y.product_id = l.product_id and y.key_type_id = l.key_type_id`

/**
 * The device `q.device_id` of license `l`. Since most licenses have one device, the planner would read all devices of
 * the license and filter them, which is slow for one with thousands. The lateral query with a limit prevents that plan.
 */
export const seatOfDevice =
  'select * from devices where license_id = l.license_id and device_id = q.device_id limit 1'

/**
 * Whether the device `d` has an active seat of the one whose key `k` is: the license's, or a person's; and whether the seat is of
 * another person, or of a person while `k` is the license's.
 */
export const seatedByKey = `
  d.status is not distinct from 'active' and d.person_id is not distinct from k.person_id as seated,
  d.status is not distinct from 'active' and d.person_id is distinct from k.person_id as seated_by_another,
  k.is_seated is not distinct from false as without_seat`

/** Columns of {@link seatedByKey}. */
export type SeatedByKey = { seated: boolean; seated_by_another: boolean; without_seat: boolean }

/** Joins {@link seatOfDevice}. */
export const deviceOfLicense = `left join lateral (${seatOfDevice}) d on true`

/**
 * The device with instance `q.instance_id` on license `l`. An instance is one device, but a license may have thousands:
 * no index serves `is not distinct from`, so the planner must search by instance and not by license.
 */
export const deviceOfInstance = `
  left join devices d on d.instance_id = q.instance_id and d.license_id is not distinct from l.license_id`

/**
 * The overrides of the customer of license `l`. Most licenses have no customer, so this is a conditional subquery and
 * not a join. It searches by `stream`, the primary key: by tenant it could scan all of the tenant's customers.
 */
export const overridesOfCustomer = `
  case when l.customer_id is not null then (
    select c.overrides from customers c
    where c.stream = 'customer-' || l.customer_id and c.tenant_id is not distinct from l.tenant_id
  ) end as overrides`

/** What license `l` shares with the others of its customer; read like {@link overridesOfCustomer}. */
export const metersOfCustomer = `
  case when l.customer_id is not null then (
    select c.shared_meters from customers c
    where c.stream = 'customer-' || l.customer_id and c.tenant_id is not distinct from l.tenant_id
  ) end as shared_meters`

/** Whether the stream of license `l` or of its customer is parked. Nearly always no stream is parked at all. */
export const uncertainLicense = `
  case when (select exists (select from parked)) then exists (
    select from parked where stream in ('license-' || l.license_id, 'customer-' || l.customer_id)
  ) else false end as uncertain`

/** Entitlements of the key type `y` of license `l`. A license that never expires has no fallback entitlements. */
export const entitlementsOfKeyType = `
  y.entitlements, case when l.expires_at is not null then y.fallback_entitlements end as fallback_entitlements,
  y.entitlement_values`
