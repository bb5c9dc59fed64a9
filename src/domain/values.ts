import { z } from 'zod'

/** A moment as the log writes it: ISO 8601, UTC, milliseconds. */
export const Moment = z.iso.datetime({ precision: 3 })

const slug = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * A name chosen by people for a tenant, a product or a key type. It can hold no `|`, since ids stand in signed
 * strings, and no `.`, since ids are joined by dots in stream names.
 */
export const Slug = z.string().regex(slug)

export const isSlug = (text: string): boolean => slug.test(text)

/** Text sealed by the vault under its subject's key; opaque here, unreadable once the subject is erased. */
export const Sealed = z.string().startsWith('sealed.')

/** Whether every store can hold it: no NUL and no half of a surrogate pair. */
export const isStorable = (value: string): boolean => value.isWellFormed() && !value.includes('\0')

/** Text that every store can hold. */
export const text = (most: number) =>
  z.string().min(1).max(most).refine(isStorable, 'must be well-formed text without NUL')

export const Metadata = z
  .record(z.string().min(1).max(64), z.string().max(1024))
  .refine((pairs) => Object.keys(pairs).length <= 50, 'at most 50 pairs')

/** Makes a slug out of a display name: `My App 2!` becomes `my-app-2`; empty when nothing of it is usable. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '')
}
