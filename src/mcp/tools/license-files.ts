import { z } from 'zod'
import { licenseId } from '../arguments.ts'
import { tool } from '../tool.ts'

/** A text that was carried from a device, checked by the operation itself. */
const carried = (what: string) =>
  z
    .string()
    .min(1)
    .describe(
      `The ${what} that the app made on the device: the whole text from BEGIN to END, or only its token`,
    )

/** License files, with which devices go on without a network. */
export const licenseFileTools = [
  tool({
    name: 'list_license_files',
    operation: 'listLicenseFiles',
    title: 'List the license files of a license',
    description:
      'Returns the license files that were made for devices without a network, newest first, with their state and end. ' +
      'Use it to see why a seat cannot be freed: a `live` file keeps it until `endsAt`.',
    effect: 'reads',
    input: { licenseId },
    names: { licenseId: 'id' },
  }),
  tool({
    name: 'create_license_file',
    operation: 'createLicenseFile',
    title: 'Make a license file for a device',
    description:
      'Answers the request that an app made on a device without a network. Returns the file to carry to that device; no ' +
      'other device accepts it. It takes a seat until it ends, and cannot be made shorter. The same request gets the ' +
      'same file. The key type must allow files: list_key_types shows `offlineFiles`.',
    effect: 'adds',
    repeatable: true,
    input: {
      licenseId,
      request: carried('request'),
      days: z
        .int()
        .min(1)
        .max(36_500)
        .optional()
        .describe('How many days the file is good; as long as the key type allows when left out'),
    },
    names: { licenseId: 'id' },
  }),
  tool({
    name: 'release_license_file',
    operation: 'releaseLicenseFile',
    title: 'Take a license file back',
    description:
      'Frees the seat of a device that gives its license file back. It needs the release that the app made on that ' +
      'device, which has stopped using the file. Without it, the seat stays taken until the file ends.',
    effect: 'destroys',
    input: { licenseId, release: carried('release') },
    names: { licenseId: 'id' },
  }),
]
