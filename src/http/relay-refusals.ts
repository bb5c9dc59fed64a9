import type { RefusalCode } from '../domain/refusal.ts'

/** The responses to refusals about relays. */
export const relayRefusals = {
  relays_off: [
    403,
    'the key type of this license allows no relays; set floatingSeats.relays of the key type first',
  ],
  relay_too_long: [
    422,
    'days is more than the key type allows; send at most floatingSeats.relays.maxDays of it, or leave it out',
  ],
  relay_not_found: [404, 'the license has no relay with this id and key; enroll the relay again'],
  relay_request_unreadable: [
    422,
    'request is not a request that a relay made for this product; send the whole text, from BEGIN to END, or make a new one',
  ],
  relay_request_of_another_license: [
    422,
    'the request was made for another license key; open the license of that key, or enter the key of this license in the relay',
  ],
  relay_request_outdated: [
    409,
    'a newer request of the relay was answered already; make a new request on the relay',
  ],
  relay_release_unreadable: [
    422,
    'release is not a release that a relay made for this product; send the whole text, from BEGIN to END, or make a new one',
  ],
  relay_released: [409, 'the relay gave its seats back; enroll it again'],
  relay_copied: [
    409,
    'the relay was copied, so it is not renewed; delete its copies and enroll a new relay: the seats of this one come back when its certificate ends',
  ],
  relay_limit_reached: [409, 'the license has had 100 relays within a year; renew those, or wait'],
} satisfies Partial<Record<RefusalCode, [status: number, message: string]>>
