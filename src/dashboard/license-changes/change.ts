import { z } from 'zod'
import type { UsableMeter } from '../../commands/meters/meters.ts'
import type { OwnedMeters } from '../../commands/meters/owners.ts'
import type { Origin } from '../../commands/origin.ts'
import type { IssuedLicense } from '../../domain/licenses/license.ts'
import type { KeyType } from '../../domain/products/key-type.ts'
import type { RefusalCode } from '../../domain/refusal.ts'
import type { Content } from '../../html.ts'
import type { Person } from '../../vault/subjects.ts'
import type { chosenCustomer } from '../forms/customer-field.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { optionalLine } from '../forms/typed.ts'
import type { PageContext } from '../page-context.ts'

/** A license or a customer that is to be changed, with what each form of it shows. */
export type About = {
  tenantId: string
  id: string
  /** Of its page. */
  path: string
  /** What names it in the heading. */
  named: Content
  owned: OwnedMeters
  /** Its own meters. */
  meters: readonly UsableMeter[]
}

/** The license that is to be changed. */
export type AboutLicense = About & {
  license: IssuedLicense
  person: Person
  /** The key types of its product. */
  keyTypes: readonly KeyType[]
}

/** What decides on a change besides the license itself. */
export type LicenseFacts = {
  /** Whether its key can be mailed to its holder again. */
  keyIsSendable: boolean
  /** Whether its key type allows license files for devices without a network. */
  allowsFiles: boolean
  /** Whether its key type allows relays in the customer's network. */
  allowsRelays: boolean
  /** Whether it has a relay that may give its seats back. */
  hasRelays: boolean
}

/** A change that a member makes on a page, at once and without an approval. */
export type Change<Subject extends About = About> = {
  /** Its part of the address. */
  name: string
  title: string
  button: string
  lead: (about: Subject) => Content
  schema: z.ZodType<ReasonTyped>
  /** The first values of the form. @param query of the page's address */
  values: (about: Subject, query: Record<string, string | undefined>) => Record<string, string>
  /** How the field of the reason is explained, where it is needed; null for a change without it. Without this, it is optional. */
  reasonHint?: string | null
  /** The fields besides the reason. */
  fields: (form: FilledForm, about: Subject) => Content
  /** Reads the customer that the form names; its id is then among what was typed. */
  choose?: typeof chosenCustomer
  run: (ports: Services, about: Subject, typed: never, origin: Origin) => Promise<Changed>
  /** The field that each refusal concerns, and what it says there. */
  problems?: Partial<Record<RefusalCode, readonly [field: string, sentence: string]>>
}

/** A change of a license. */
export type LicenseChange = Change<AboutLicense> & {
  /** What the license's page calls it. */
  label: string | ((license: IssuedLicense) => string)
  /** Whether the license's page offers it for the whole license. */
  fits: (license: IssuedLicense, facts: LicenseFacts) => boolean
}

export type Services = PageContext['ports']

/** A license file, to carry to its device. */
export type CarriedFile = { text: string; token: string; device: string; endsAt: string }

/** The answer to a relay, to carry there. */
export type CarriedAnswer = { text: string; name: string; seats: number; endsAt: string }

/** What a change returns that is shown once; undefined leads back to the license. */
export type Changed =
  | { licenseKey: string }
  | { licenseFile: CarriedFile }
  | { relayAnswer: CarriedAnswer }
  | undefined

type ReasonTyped = { reason: string | undefined }

/** The fields of a form, with the reason that every change takes. */
export const withReason = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object({ reason: optionalLine(500), ...shape })

type Running<Subject extends About, Schema extends z.ZodType<ReasonTyped>> = {
  schema: Schema
  run: (ports: Services, about: Subject, typed: z.infer<Schema>, origin: Origin) => Promise<Changed>
}

/** A change of a license whose `run` gets what its schema has read. */
export function licenseChange<S extends z.ZodType<ReasonTyped>>(
  change: Omit<LicenseChange, 'schema' | 'run'> & Running<AboutLicense, S>,
): LicenseChange {
  return change
}

/** As {@link licenseChange}, of a license or a customer. */
export function anyChange<S extends z.ZodType<ReasonTyped>>(
  change: Omit<Change, 'schema' | 'run'> & Running<About, S>,
): Change {
  return change
}

/** What each command needs to know of the license. */
export const changeInput = ({ license }: AboutLicense, { reason }: ReasonTyped) => ({
  tenantId: license.tenantId,
  licenseId: license.licenseId,
  reason: reason ?? null,
})
