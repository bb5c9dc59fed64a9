import { z } from 'zod'
import type { ForeignLicense } from '../../commands/licenses/import.ts'
import { inputWords, sentenceOf } from '../../domain/input-words.ts'
import { ComponentsOfApp, HashOfApp } from '../../domain/licenses/marks.ts'
import { EmailAddress, Metadata, Slug } from '../../domain/values.ts'
import { inUtc, keyText, momentIn, text } from '../schemas.ts'

const wellFormed = (value: string): boolean => value.isWellFormed() && !value.includes('\0')

const wellFormedMetadata = (pairs: Record<string, string>): boolean =>
  Object.entries(pairs).every(([key, value]) => wellFormed(key) && wellFormed(value))

/**
 * The limit of one row. A row with its devices becomes one append, and the event store accepts 1 MiB per append.
 */
const maxRowBytes = 256 * 1024
const maxDevices = 500
/** Each takes a second event, and more bytes of the append than of the row. */
export const maxIdentifiedDevices = 250

/** Times before 1970 are rejected: no license is that old, and the stores represent such times differently. */
const momentOfSale = momentIn.refine((value) => Date.parse(value) >= 0, 'must not be before 1970')

type Said = { machineHash?: string | undefined; components?: Record<string, string> | undefined }

const identifies = ({ machineHash, components = {} }: Said): boolean =>
  machineHash !== undefined || Object.keys(components).length > 0

/** A license of another system, as a program sends it. */
export const importRowIn = z
  .strictObject({
    licenseKey: keyText.meta({ description: 'In any format; at least 6 letters or digits' }),
    keyTypeId: Slug.optional().meta({ description: "Defaults to the product's first key type" }),
    email: EmailAddress.nullish(),
    name: text(200).nullish().meta({ description: 'Stored only together with an email address' }),
    quantity: z.int().min(1).max(100_000).optional(),
    expiresAt: momentOfSale.nullable().optional().meta({
      description:
        "May be in the past. null is perpetual; when absent, the key type's duration counts from createdAt",
    }),
    status: z.enum(['active', 'fallback', 'expired', 'revoked']).optional().meta({
      description:
        'The status in the previous system. `revoked` is kept; `expired` and `fallback` need an expiresAt in the past',
    }),
    updatesUntil: momentOfSale.nullable().optional().meta({
      description:
        'The last moment of a build that the license covers. null covers every build; when absent, the `updates` of the key type count from createdAt',
    }),
    createdAt: momentOfSale.optional().meta({ description: 'When the license was issued; defaults to now' }),
    metadata: Metadata.refine(wellFormedMetadata, 'must be well-formed text without NUL').optional(),
    devices: z
      .array(
        z.strictObject({
          deviceId: text(256),
          name: text(200).optional().meta({ description: 'The label of the device; its id when absent' }),
          machineHash: HashOfApp.optional().meta({
            description: 'What the app sends as `machine_hash`; stored as a keyed hash',
          }),
          components: ComponentsOfApp.optional().meta({
            description: 'What the app sends as `device`; stored as keyed hashes',
          }),
        }),
      )
      .max(maxDevices)
      .refine(
        (devices) => devices.filter(identifies).length <= maxIdentifiedDevices,
        `at most ${maxIdentifiedDevices} devices can have a machineHash or components`,
      )
      .optional()
      .meta({ description: 'Devices that have a seat; the name defaults to the id' }),
  })
  .refine((row) => Buffer.byteLength(JSON.stringify(row)) <= maxRowBytes, 'the row is larger than 256 KiB')

/** The row as the command takes it, or the reason why it is invalid. */
export function importRowOf(row: unknown): ForeignLicense | string {
  const read = importRowIn.safeParse(row, { error: inputWords })
  if (!read.success) return sentenceOf(read.error, 'the row')
  const { email, name, expiresAt, createdAt, updatesUntil, devices, ...rest } = read.data
  return {
    ...rest,
    email: email ?? undefined,
    name: name ?? undefined,
    expiresAt: expiresAt && inUtc(expiresAt),
    createdAt: createdAt && inUtc(createdAt),
    updatesUntil: updatesUntil && inUtc(updatesUntil),
    devices: devices?.map(({ deviceId, name = deviceId, ...said }) => ({
      deviceId,
      name,
      ...(identifies(said) && {
        said: { machineHash: said.machineHash ?? null, components: said.components ?? {} },
      }),
    })),
  }
}
