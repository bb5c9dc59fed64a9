/** Lists of what belongs to a customer's licenses cover this many of them, the newest ones. */
const mostLicenses = 1000

/**
 * SQL for the ids of a customer's licenses, as an array, so that what belongs to them is found by the license.
 * @param tenantId @param customerId the parameters of the query, as in `$1`
 */
export const licensesOfCustomer = (tenantId: string, customerId: string): string => `array(
  select license_id from licenses where tenant_id = ${tenantId} and customer_id = ${customerId}
  order by created_at desc, license_id desc limit ${mostLicenses}
)`
