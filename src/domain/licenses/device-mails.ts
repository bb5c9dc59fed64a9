import type { DeviceMail } from '../products/device-mails.ts'
import type { LicenseTerms } from './events.ts'
import { toldByMail } from './notices.ts'

/** What the product of a license tells; absent or null for nothing. */
export type Tell = { tell?: readonly DeviceMail[] | null | undefined }

/**
 * What the holder is told of a device that takes a seat: that it is the last one, or else that it is new. Of the only seat of a
 * license, no one is told that it is taken.
 * @param taken how many seats are taken with it
 * @returns nothing for a license whose holder has no address
 */
export function mailOfDevice(
  license: Pick<LicenseTerms, 'holder'>,
  { tell }: Tell,
  { taken, most }: { taken: number; most: number | null },
): { mail?: DeviceMail } {
  const isLast = most !== null && most > 1 && taken >= most
  const mail = isLast && tell?.includes('seats_full') ? 'seats_full' : 'new_device'
  return tell?.includes(mail) && toldByMail(license, true).mail ? { mail } : {}
}
