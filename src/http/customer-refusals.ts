import type { RefusalCode } from '../domain/refusal.ts'

/** The responses to refusals about customers and the people of organizations. */
export const customerRefusals = {
  customer_exists: [409, 'this customer already exists'],
  customer_not_found: [404, 'customer not found'],
  customer_erased: [409, 'the person behind this customer was erased; create another customer'],
  too_many_notes: [409, 'this customer has 200 notes; remove one first'],
  customer_merged: [409, 'one of the customers was merged into another; use that one, or undo the merge'],
  customer_has_meters: [
    409,
    'the licenses of this customer share meters; merge the other customer into this one, or remove the meters',
  ],
  customer_is_organization: [
    409,
    'this customer is an organization; merge the other customer into this one, or dissolve the organization',
  ],
  not_an_organization: [409, 'this customer is not an organization; make it one first'],
  person_not_found: [404, 'person not found'],
  last_administrator: [409, 'an organization needs at least one administrator; make someone else one first'],
  too_many_people: [409, 'an organization has at most 1000 people; remove some first'],
  invited_recently: [
    409,
    'this person was invited within the last hour; wait before you send another invitation',
  ],
  portal_closed: [
    409,
    'the portal is off, so nobody can be invited to it; turn it on, or add people without an invitation',
  ],
  customer_merged_with_itself: [422, 'into must name another customer'],
} satisfies Partial<Record<RefusalCode, [status: number, message: string]>>
