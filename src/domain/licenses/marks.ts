import { z } from 'zod'

/**
 * What a device says it is, hashed under a person's key: the license's holder, or the tenant's own subject. Once the
 * key is destroyed, the device can no longer be told from the hashes.
 */
export const DeviceIdentity = z.strictObject({
  /** Whose key it is hashed under. */
  subjectId: z.string().min(1),
  machine: z.string().min(1).nullable(),
  /** By the name of the component, such as `disk`. */
  components: z.record(z.string(), z.string().min(1)),
  /** Set while it is only known from another system: the device itself has not said who it is yet. */
  imported: z.literal(true).optional(),
})
export type DeviceIdentity = z.infer<typeof DeviceIdentity>

/** Everything by which a device in a seat is recognized, besides the instance id that it was given. */
export const DeviceMarks = z.strictObject({
  installId: z.string().min(1).nullable(),
  name: z.string(),
  identity: DeviceIdentity.nullable(),
})
export type DeviceMarks = z.infer<typeof DeviceMarks>

/** An identifier of a machine or of a component, hashed by the app. */
export const HashOfApp = z
  .string()
  .regex(/^[A-Za-z0-9+/=_-]{16,128}$/, 'must be 16 to 128 of A-Z a-z 0-9 + / = _ -')

/** The most components of a device. */
export const maxComponents = 8

/** The components of a machine by name, such as `board` and `disk`. */
export const ComponentsOfApp = z
  .record(z.string().regex(/^[a-z][a-z0-9_]{0,31}$/, 'must be lowercase letters, digits and _'), HashOfApp)
  .refine((parts) => Object.keys(parts).length <= maxComponents, `has at most ${maxComponents} components`)

/** What an app says of the device that it runs on. */
export type DeviceClaim = {
  /** The instance id that it was given before, if it still has it. */
  instanceId: string | null
  installId: string | null
  /** Null when the call does not say it. */
  name: string | null
  /**
   * Its identity, hashed under each key that the seats of the license may be hashed under. The first is the one to
   * record. Empty when the app says nothing of the machine.
   */
  identities: readonly DeviceIdentity[]
}

/** How many components two devices must have in common at the very least, because one alone may be shared by many. */
export const fewestComponents = 2

/** What changed in the marks of a device, in words for a history: `name`, `machine`, `disk`. */
export function changedMarks(before: DeviceMarks | null, after: DeviceMarks): string[] {
  const known = before?.identity ?? null
  const said = after.identity
  const names = Object.keys({ ...known?.components, ...said?.components }).sort()
  return [
    ...(before !== null && before.name !== after.name ? ['name'] : []),
    ...((known?.machine ?? null) !== (said?.machine ?? null) ? ['machine'] : []),
    ...names.filter((name) => known?.components[name] !== said?.components[name]),
  ]
}

/**
 * What tells takers of a seat apart, before they have one: the first of what they say, as the id that they were given, the install,
 * the machine, the name.
 */
export function takerOf({ instanceId, installId, identities, name }: DeviceClaim): string {
  const [identity] = identities
  const machine = identity && [identity.machine, identity.components]
  return JSON.stringify([instanceId ?? installId ?? machine ?? name])
}
