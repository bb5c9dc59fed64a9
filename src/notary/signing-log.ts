import type { KeyObject } from 'node:crypto'
import { type NotaryLog, notaryLogs } from '../domain/notary/notary-log.ts'
import { Refusal } from '../domain/refusal.ts'
import { notaryLogId } from '../domain/streams.ts'
import { loadFromLog } from '../ledger/execute.ts'
import type { Cause } from '../ledger/ledger.ts'
import type { Ports } from '../ports.ts'
import { privateKeyOf, publicBytesOf, signatureTypes } from '../transparency/note/keys.ts'
import { formatVerifierKey, verifierKey } from '../transparency/note/verifier.ts'
import type { NotarySigner } from './checkpoints.ts'
import { NotarySuspended } from './suspension.ts'

export type SigningPorts = Ports<'db' | 'execute' | 'ledger' | 'now' | 'randomBytes' | 'secrets'>

/** The notary's keys belong to no tenant. */
const noTenant = ''

/** A public key in the form in which others configure it. */
export const publicKeyText = (origin: string, privateKey: KeyObject): string =>
  formatVerifierKey(verifierKey(origin, signatureTypes.ed25519, publicBytesOf(privateKey)))

/** @returns in whose name checkpoints are signed, as the log says */
export async function readNotaryLog({ ledger }: Ports<'ledger'>): Promise<NotaryLog> {
  const { state } = await loadFromLog(ledger, notaryLogId, notaryLogs)
  return state
}

/**
 * Opens the keys of the ledger's log, and starts the first log if there is none.
 * @param origin of the first log
 * @throws NotarySuspended when another database has signed for the log, or lacks its keys
 */
export async function openSigner(ports: SigningPorts, origin: string, cause: Cause): Promise<NotarySigner> {
  let log = await readNotaryLog(ports)
  if (log.origin === undefined) {
    await startLog(ports, { origin, lastCheckpoint: null }, cause)
    log = await readNotaryLog(ports)
  }
  const { origin: name = origin, keys } = log
  await requireOurs(ports, name)
  const privateKeys = await Promise.all(keys.map((key) => openKey(ports, key)))
  return { origin: name, privateKeys }
}

/**
 * Starts a log. A crash before the event leaves a key that the next attempt uses.
 * @param log its origin, and the last known checkpoint of the log that it follows
 * @throws Refusal `notary_origin_used`
 */
export async function startLog(
  ports: SigningPorts,
  { origin, lastCheckpoint }: { origin: string; lastCheckpoint: string | null },
  cause: Cause,
): Promise<void> {
  const key = await nextKey(ports, origin)
  await claim(ports, origin)
  await ports.execute(
    notaryLogs,
    notaryLogId,
    { type: 'StartNotaryLog', origin, key, lastCheckpoint, at: cause.at },
    cause,
  )
  await ports.secrets.destroy(noTenant, nextName)
}

/** Records that this database has all checkpoints of a log. */
export async function claim({ db, now }: Ports<'db' | 'now'>, origin: string): Promise<void> {
  await db.query('insert into notary.logs (origin, since) values ($1, $2) on conflict do nothing', [
    origin,
    now(),
  ])
}

/** @throws NotarySuspended when another database has signed for the log */
export async function requireOurs({ db }: Ports<'db'>, origin: string): Promise<void> {
  const { rowCount } = await db.query('select from notary.logs where origin = $1', [origin])
  if (rowCount !== 1) throw NotarySuspended.signedElsewhere(origin)
}

/**
 * Adds a key, so that each checkpoint is signed by the present ones and by it.
 * @returns the new public key
 * @throws Refusal `notary_not_started`
 */
export async function addKey(ports: SigningPorts, cause: Cause): Promise<string> {
  const { origin } = await readNotaryLog(ports)
  if (origin === undefined) throw new Refusal('notary_not_started')
  const key = await nextKey(ports, origin)
  await ports.execute(notaryLogs, notaryLogId, { type: 'AddNotaryKey', key, at: cause.at }, cause)
  await ports.secrets.destroy(noTenant, nextName)
  return key
}

/**
 * Retires a key: the next checkpoints are signed by the others alone. Its private part is destroyed.
 * @throws Refusal `notary_key_unknown`, `notary_key_is_last`
 */
export async function retireKey(ports: SigningPorts, key: string, cause: Cause): Promise<void> {
  await ports.execute(notaryLogs, notaryLogId, { type: 'RetireNotaryKey', key, at: cause.at }, cause)
  await ports.secrets.destroy(noTenant, nameOf(key))
}

/** The secret of a key that is about to be recorded. */
const nextName = 'notary next key'

/** Makes a key, or finds the one that an attempt before a crash made. */
async function nextKey(
  { secrets, randomBytes }: Ports<'randomBytes' | 'secrets'>,
  origin: string,
): Promise<string> {
  const seed = await secrets.keep(noTenant, nextName, Buffer.from(randomBytes(32)).toString('base64'))
  const key = publicKeyText(origin, privateKeyOf(Buffer.from(seed, 'base64')))
  await secrets.keep(noTenant, nameOf(key), seed)
  return key
}

const nameOf = (key: string): string => `notary key ${key}`

async function openKey({ secrets }: Ports<'secrets'>, key: string): Promise<KeyObject> {
  const seed = await secrets.open(noTenant, nameOf(key))
  if (seed === undefined) throw NotarySuspended.keyMissing(key)
  return privateKeyOf(Buffer.from(seed, 'base64'))
}
