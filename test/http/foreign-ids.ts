import type { Method } from '../harness/api.ts'

/** What the owner has, and the same things of the stranger. */
export type Things = {
  license: { id: string; licenseKey: string }
  /** With floating seats. */
  floating: { id: string; licenseKey: string }
  sameName: { id: string; licenseKey: string }
  customer: string
  reseller: string
  confirmation: string
  testPurchase: string
  delivery: string
  endpoint: string
  signInProvider: string
  role: string
  replay: string
  sale: string
  ownCustomer: string
  token: string
  member: string
  unknownKey: string
}

export type Which = 'owned' | 'absent'
type Request = { method: Method; url: string; body?: unknown }

export const customerId = (which: Which, { customer }: Things) =>
  which === 'owned' ? customer : 'cus_00000000000000000000000000'
export const resellerId = (which: Which, { reseller }: Things) =>
  which === 'owned' ? reseller : 'rsl_00000000000000000000000000'
export const licenseId = (which: Which, { license }: Things) =>
  which === 'owned' ? license.id : 'lic_00000000000000000000000000'
export const saleId = (which: Which, { sale }: Things) =>
  which === 'owned' ? sale : 'sal_00000000000000000000000000'

export const deliveryId = (which: Which, { delivery }: Things) =>
  which === 'owned' ? delivery : 'whd_00000000000000000000000000'

export const providerId = (which: Which, { signInProvider }: Things) =>
  which === 'owned' ? signInProvider : 'absent'

export const roleId = (which: Which, { role }: Things) =>
  which === 'owned' ? role : 'rol_00000000000000000000000000'

export const languageTag = (which: Which) => (which === 'owned' ? 'fr' : 'it')

export const endpointId = (which: Which, { endpoint }: Things) =>
  which === 'owned' ? endpoint : 'whe_00000000000000000000000000'

export const replayId = (which: Which, { replay }: Things) =>
  which === 'owned' ? replay : 'whr_00000000000000000000000000'

/** What is asked, the status of the answer, and the request. */
export type Place = [what: string, status: number, request: (which: Which, things: Things) => Request]
