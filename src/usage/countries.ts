import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { type CountryResponse, Reader } from 'mmdb-lib'
import { z } from 'zod'

/** The countries of addresses, by a file that the operator supplies. */
export type Countries = {
  /** The two letters of the country of an address; null when the file does not know it. */
  of(address: string): string | null
  /** Reads the file again if it was replaced. A file that cannot be read leaves the former one in use. @throws Error */
  refresh(): void
}

export const noCountries: Countries = { of: () => null, refresh: () => undefined }

/** All that is read of an entry. Files of some vendors have the two letters themselves. */
const Entry = z.object({ country: z.union([z.object({ iso_code: z.string() }), z.string()]) })
const twoLetters = /^[A-Z]{2}$/

/** Reads a database in the format of MaxMind DB. @throws Error if it cannot be read, or has another format */
export function openCountries(path: string): Countries {
  let readAt = statSync(path).mtimeMs
  let reader = read(path)
  return {
    of(address) {
      if (isIP(address) === 0) return null
      const entry = Entry.safeParse(reader.get(address))
      if (!entry.success) return null
      const { country } = entry.data
      const code = typeof country === 'string' ? country : country.iso_code
      return twoLetters.test(code) ? code : null
    },
    refresh() {
      const { mtimeMs } = statSync(path)
      if (mtimeMs === readAt) return
      readAt = mtimeMs
      reader = read(path)
    },
  }
}

function read(path: string): Reader<CountryResponse> {
  try {
    return new Reader<CountryResponse>(readFileSync(path))
  } catch (cause) {
    throw new Error(`${path} is no database of countries in the format of MaxMind DB`, { cause })
  }
}
