import { parsed } from '../app/facts.ts'
import { isField, isRecord, isSeconds } from '../keyset.ts'

/** All that an app without a network has to remember. What was signed is stored as it came, and verified whenever it is read. */
export type OfflineFacts = {
  /** The seed of the device's own key, in hex: whoever has it can give its file back. */
  seed: string
  /** Of the last request. */
  counter: number
  /** The last request, while its answer is awaited. */
  asked?: { nonce: string; licenseKeyHash: string } | undefined
  /** The file in use, and the nonce with which it was accepted. */
  file?: { token: string; nonce: string; licenseKeyHash: string } | undefined
  /** The newest list of withdrawn files. */
  withdrawn?: string | undefined
  /** The serial of the last file that was given back: it and older ones are not taken again. */
  released: number
  /** The greatest time that was seen, from signed texts and from the device's clock, in Unix seconds. */
  seen: number
}

const format = 1

export const offlineTextOf = (facts: OfflineFacts): string => JSON.stringify({ format, ...facts })

/** @returns undefined for what is not usable */
export function offlineFactsFrom(text: string | undefined): OfflineFacts | undefined {
  const stored = parsed(text)
  if (!isRecord(stored) || stored.format !== format) return undefined
  const { seed, counter, released, seen, withdrawn } = stored
  if (typeof seed !== 'string' || !/^[0-9a-f]{64}$/.test(seed)) return undefined
  if (!isSeconds(counter) || !isSeconds(released) || !isSeconds(seen)) return undefined
  const asked = fieldsOf(stored.asked, ['nonce', 'licenseKeyHash'])
  const file = fieldsOf(stored.file, ['token', 'nonce', 'licenseKeyHash'])
  return { seed, counter, asked, file, withdrawn: isField(withdrawn) ? withdrawn : undefined, released, seen }
}

function fieldsOf<Name extends string>(
  value: unknown,
  names: readonly Name[],
): Record<Name, string> | undefined {
  if (!isRecord(value)) return undefined
  const fields = names.map((name) => [name, value[name]] as const)
  return fields.every((field): field is readonly [Name, string] => isField(field[1]))
    ? (Object.fromEntries(fields) as Record<Name, string>)
    : undefined
}
