import { hexToBytes } from '@noble/hashes/utils.js'
import { licenseKeyHash } from '../../license-key.ts'
import { signOwn } from '../../paseto.ts'
import type { Facts } from '../facts.ts'
import { type Failure, nameOf, type Ports, takeSigned } from '../operations.ts'
import { randomHex } from '../ports.ts'
import { leave } from '../take.ts'
import { armored, tokenIn } from './armor.ts'
import { fileIn, isForMachine, machineOf, newOfflineFacts, type OfflineFacts } from './facts.ts'
import { type FileDoubt, takeCarried } from './take.ts'

/** A text to carry to the vendor; `token` is the same without lines, for a QR code. */
export type Carried = { text: string; token: string }

const withOffline = (facts: Facts): Facts & { offline: OfflineFacts } => ({
  ...facts,
  offline: facts.offline ?? newOfflineFacts(),
})

/**
 * Asks for a license file, with a key that a person has typed. The request is stored before it is given out, so that none
 * repeats a counter, and its answer is known after a restart.
 * @throws Error when the storage cannot be written
 */
export async function createRequest(ports: Ports, key: string): Promise<Carried> {
  const known = withOffline(await ports.keeper.load())
  // The time, so that a machine that was restored from a backup is not behind its own earlier requests.
  const counter = Math.max(known.offline.counter + 1, ports.keeper.now())
  const asked = { nonce: randomHex(16), licenseKeyHash: licenseKeyHash(key) }
  const offline = { ...known.offline, counter, asked }
  await store(ports, (facts) => ({ ...facts, offline }))
  const { machineHash, components } = machineOf(offline, ports.identity.device())
  return signed(ports, 'REQUEST', offline, {
    nonce: asked.nonce,
    counter,
    license_key_hash: asked.licenseKeyHash,
    instance_name: nameOf(ports, known),
    device: { machine_hash: machineHash, components },
  })
}

/** Takes a text that was carried here: the answer to the last request, or a list of withdrawn files. */
export async function importText(ports: Ports, text: string): Promise<Failure> {
  await ports.keeper.load()
  const to = { place: ports.place, device: ports.identity.device() }
  const as = await takeSigned(ports, (facts, now) => takeCarried(withOffline(facts), tokenIn(text), to, now))
  return as === 'fresh' || as === 'same' || as === 'stale' ? undefined : { code: as, message: messages[as] }
}

/**
 * Gives the license file and its seat back: the device stops using both before it gives the text out.
 * @returns undefined without a file for this machine; the same again for one that was given back before
 * @throws Error when the storage cannot be written
 */
export async function giveBack(ports: Ports): Promise<Carried | undefined> {
  const { offline } = await ports.keeper.load()
  const file = offline?.file
  if (!file || !isForMachine(file, offline, ports.identity.device())) return undefined
  const { instanceId, serial } = file
  if (fileIn(offline)) await store(ports, (facts) => leave(facts, instanceId))
  const { fence } = file.file ?? {}
  return signed(ports, 'RELEASE', offline, {
    instance_id: instanceId,
    serial,
    ...(fence !== undefined && { fence }),
  })
}

async function store({ keeper }: Ports, step: (facts: Facts) => Facts): Promise<void> {
  if (!(await keeper.change(step))) throw new Error('the storage cannot be written')
}

function signed(
  { keeper, place }: Ports,
  kind: 'REQUEST' | 'RELEASE',
  { seed }: OfflineFacts,
  claims: object,
): Carried {
  const assertion = `keyledger:${kind.toLowerCase()}1:${place.tenantId}:${place.productId}`
  const iat = new Date(keeper.now() * 1000).toISOString()
  const token = signOwn({ iat, ...claims }, assertion, hexToBytes(seed))
  return { text: armored(kind, token), token }
}

const messages: Readonly<Record<FileDoubt, string>> = {
  malformed: 'this is neither a license file nor a list of withdrawn files',
  unknown_key: 'it was signed with a key that this app does not know',
  bad_signature: 'it was changed on the way, or was made for another product',
  another_device: 'it was made for another machine',
  not_asked: 'it answers another request than the last one of this device',
  outdated: 'it is older than what this device has, or was given back',
  not_yet: 'the clock of this machine is before it',
  over: 'it has ended; ask for the next one',
}
