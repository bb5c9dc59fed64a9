import { z } from 'zod'
import { customerId, deviceId, keyTypeId, licenseId, productId, reason, time } from '../arguments.ts'
import { tool } from '../tool.ts'

const needsApproval =
  'A person must approve it: the first call returns an approval with `approveUrl` and changes nothing. Give the ' +
  'address to the person you work for, ask check_approval, and then repeat the call with `confirmationId`.'

const expiresAt = time('The new expiry; null never expires').nullable()
const updatesUntil = time(
  'The last moment of a build that the license covers; null covers every build',
).nullable()
const deviceLimit = z.int().min(1).max(100_000).nullable().describe('null is unlimited')

/** Issue a license, and change one. */
export const changeLicenseTools = [
  tool({
    name: 'mint_license',
    operation: 'mintLicense',
    title: 'Issue a new license',
    description:
      'Creates a license of a product and returns it with its license key. The key is in this result only and cannot ' +
      'be read again. `sendKey: true` also mails it to the person.',
    effect: 'adds',
    input: {
      productId,
      keyTypeId: keyTypeId.optional().describe("Defaults to the product's first key type"),
      email: z.string().max(254).optional().describe('The email address of the person'),
      name: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe('The name of the person; only with an email address'),
      customerId: customerId.optional(),
      expiresAt: expiresAt.optional().describe('Defaults to the term of the key type; null never expires'),
      deviceLimit: deviceLimit.optional().describe('Defaults to that of the key type; null is unlimited'),
      updatesUntil: updatesUntil
        .optional()
        .describe('Defaults to the updates of the key type; null covers every build'),
      sendKey: z.boolean().optional().describe('Mail the key to the person'),
    },
  }),
  tool({
    name: 'update_license',
    operation: 'updateLicense',
    title: 'Change the terms or the person of a license',
    description:
      'Changes the key type, expiry, device limit, end of updates or person of a license; what is left out stays. Use it to extend a ' +
      'license or to give it more devices.',
    effect: 'changes',
    input: {
      licenseId,
      keyTypeId: keyTypeId.optional(),
      expiresAt: expiresAt.optional(),
      deviceLimit: deviceLimit.optional(),
      updatesUntil: updatesUntil.optional(),
      email: z.string().max(254).nullable().optional().describe('null removes the person'),
      name: z.string().min(1).max(200).nullable().optional(),
      reason,
    },
    names: { licenseId: 'id' },
  }),
  tool({
    name: 'free_seat',
    operation: 'deactivateDeviceOfLicense',
    title: 'Free the seat of a device',
    description:
      'Deactivates one device of a license, such as a lost computer, so that another can be activated. get_license ' +
      'lists the devices.',
    effect: 'destroys',
    input: { licenseId, deviceId, reason },
    names: { licenseId: 'id' },
  }),
  tool({
    name: 'suspend_license',
    operation: 'suspendLicense',
    title: 'Suspend a license',
    description:
      'Stops a license until resume_license: validates are refused and no device is activated. Devices keep their ' +
      'seats. Use it instead of revoke_license when it may be undone.',
    effect: 'destroys',
    input: { licenseId, reason },
    names: { licenseId: 'id' },
  }),
  tool({
    name: 'resume_license',
    operation: 'resumeLicense',
    title: 'Resume a suspended license',
    description:
      'Ends a suspension. An expiry that passed meanwhile is not moved: use update_license for that.',
    effect: 'changes',
    input: { licenseId, reason },
    names: { licenseId: 'id' },
  }),
  tool({
    name: 'allow_sharing',
    operation: 'allowSharing',
    title: 'Allow the use of a license that looks shared',
    description:
      'Closes the notices of a license that looks shared, and stops more of them, because its use is fine as it is. Use ' +
      'resume_license too if it was suspended for that.',
    effect: 'changes',
    input: { licenseId, allowed: z.boolean(), reason },
    names: { licenseId: 'id' },
  }),
  tool({
    name: 'send_license_key',
    operation: 'sendLicenseKey',
    title: 'Mail the license key again',
    description:
      'Mails the key of a license to its person once more. It works only where the product keeps keys for recovery; ' +
      'the answer says what to do otherwise. The key is not in the result.',
    effect: 'changes',
    repeatable: false,
    reachesOut: true,
    input: { licenseId, reason },
    names: { licenseId: 'id' },
  }),
  tool({
    name: 'replace_license_key',
    operation: 'remintLicense',
    title: 'Replace the key of a license',
    description:
      'Gives a license a new key (the API calls it remint); the old key stops working at once. Use it when a key was ' +
      'published. The new key is in this result only. `sendKey: true` also mails it.',
    effect: 'destroys',
    repeatable: false,
    input: {
      licenseId,
      keepDevices: z
        .boolean()
        .optional()
        .describe('Whether devices keep their seats; otherwise all are freed'),
      sendKey: z.boolean().optional().describe('Mail the new key to the person'),
      reason,
    },
    names: { licenseId: 'id' },
  }),
  tool({
    name: 'revoke_license',
    operation: 'revokeLicense',
    title: 'Revoke a license for good',
    description: `Ends a license permanently, for example after fraud. ${needsApproval}`,
    effect: 'destroys',
    input: { licenseId, reason },
    names: { licenseId: 'id' },
  }),
  tool({
    name: 'reinstate_license',
    operation: 'reinstateLicense',
    title: 'Reinstate a revoked license',
    description: `Makes a license valid again that was revoked by mistake. ${needsApproval}`,
    effect: 'changes',
    input: { licenseId, reason },
    names: { licenseId: 'id' },
  }),
]
