/** How often something happened, with the first examples. */
export type Reason = { text: string; licenses: number; examples: string[] }

const maxExamples = 3
/** Sentences of other systems' texts could be all different. */
const maxReasons = 200

/** Counts sentences; those that differ in numbers alone count as one. */
export function createReasons() {
  const reasons = new Map<string, Reason>()
  return {
    add(text: string, from: string): void {
      const kept = text.replaceAll(/\d+/g, '0')
      const kind = reasons.has(kept) || reasons.size < maxReasons ? kept : 'other'
      const reason = reasons.get(kind) ?? {
        text: kind === 'other' ? 'Other reasons.' : text,
        licenses: 0,
        examples: [],
      }
      reason.licenses++
      if (reason.examples.length < maxExamples) reason.examples.push(from)
      reasons.set(kind, reason)
    },
    /** The most frequent first. */
    all: (): Reason[] => [...reasons.values()].toSorted((one, other) => other.licenses - one.licenses),
  }
}

/** What an import did, or would do. */
export type Tally = {
  /** Read from the export, those of other products included. */
  licenses: number
  /** New licenses. */
  imported: number
  /** Imported by an earlier run, and left as they are. */
  alreadyThere: number
  /** Not taken. */
  leftOut: number
  /** Of products that are not imported. */
  otherProducts: number
  /** Devices of the new licenses. */
  devices: number
  /** The new licenses by their state in the other system. */
  byStatus: Record<string, number>
  /** Why licenses are not taken. */
  reasons: Reason[]
  /** What is left out of licenses that are taken. */
  notes: Reason[]
}
