import { z } from 'zod'
import { licenseId } from '../arguments.ts'
import { tool } from '../tool.ts'

/** A text that was carried from a relay, checked by the operation itself. */
const carried = (what: string) =>
  z.string().min(1).describe(`The ${what} that the relay made: the whole text from BEGIN to END`)

/** Relays, which give out floating seats inside a customer's network. */
export const relayTools = [
  tool({
    name: 'list_relays',
    operation: 'listRelays',
    title: 'List the relays of a license',
    description:
      "Returns the relays in the customer's network, newest first, with their seats, state and end. Use it to see what takes " +
      'seats besides devices, or whether a relay was copied.',
    effect: 'reads',
    input: { licenseId },
    names: { licenseId: 'id' },
  }),
  tool({
    name: 'certify_relay',
    operation: 'certifyRelay',
    title: 'Enroll or renew a relay',
    description:
      'Answers the request of a relay, to be enrolled or renewed. Returns the relay, and the `answer` to carry to it as JSON. ' +
      'Its seats are taken until its certificate ends, which nothing can make earlier but its release. The same request gets the ' +
      'same certificate. The key type must allow relays: list_key_types shows `floatingSeats.relays`.',
    effect: 'adds',
    repeatable: true,
    input: {
      licenseId,
      request: carried('request'),
      days: z
        .int()
        .min(1)
        .max(366)
        .optional()
        .describe('How many days it may go on without renewal; as long as the key type allows when left out'),
    },
    names: { licenseId: 'id' },
  }),
  tool({
    name: 'release_relay',
    operation: 'releaseRelay',
    title: 'Take the seats of a relay back',
    description:
      'Frees the seats of a relay that stopped for good. It needs the release that the relay made. Without it, the seats stay ' +
      'taken until its certificate ends.',
    effect: 'destroys',
    input: { licenseId, release: carried('release') },
    names: { licenseId: 'id' },
  }),
]
