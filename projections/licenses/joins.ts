/**
 * What every look-up by a license key joins to its questions `q`: the key, the license that it is current for, and
 * the license's key type. Each names its columns itself: of millions of calls each needs few of them.
 */
export const licenseOfKey = `
  left join license_keys k
    on k.tenant_id = q.tenant_id and k.product_id = q.product_id and k.key_hash = q.key_hash
  left join licenses l on l.license_id = k.license_id and k.current
  left join key_types y
    on y.tenant_id = l.tenant_id and y.product_id = l.product_id and y.key_type_id = l.key_type_id`

/**
 * The device that a question `q` names on license `l`. A license may have thousands, and most have one: where a plan may
 * choose, it finds those of the license and looks through them. Here it cannot, since what has a limit is not joined to.
 */
export const deviceOfLicense = `
  left join lateral (
    select * from devices where license_id = l.license_id and device_id = q.device_id limit 1
  ) d on true`

/**
 * The device that instance `q.instance_id` of license `l` is. One instance is one device, and a license may have
 * thousands: what is compared by `is not distinct from` is compared by no index, so that the plan cannot go by it.
 */
export const deviceOfInstance = `
  left join devices d on d.instance_id = q.instance_id and d.license_id is not distinct from l.license_id`

/**
 * What the customer of license `l` is granted and refused; most licenses have none. A join would be planned at each of all
 * the others. Found by its stream, which is in no index of the tenant's customers: those are many.
 */
export const overridesOfCustomer = `
  case when l.customer_id is not null then (
    select c.overrides from customers c
    where c.stream = 'customer-' || l.customer_id and c.tenant_id is not distinct from l.tenant_id
  ) end as overrides`

/** Whether an event of license `l` or its customer could not be read. Nearly always nothing is parked at all. */
export const uncertainLicense = `
  case when (select exists (select from parked)) then exists (
    select from parked where stream in ('license-' || l.license_id, 'customer-' || l.customer_id)
  ) else false end as uncertain`

/** Entitlements of the key type `y` of license `l`. What never expires never falls back. */
export const entitlementsOfKeyType = `
  y.entitlements, case when l.expires_at is not null then y.fallback_entitlements end as fallback_entitlements`
