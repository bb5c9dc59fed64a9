import type { ProvedArchive } from '../../src/verifier/archive.ts'
import { canonical, isSalted, shownOf } from './record.ts'
import { beginWith, Line, Proof, pairedNames, pairsIn, parsed, recordAt, treeAt, type Work } from './work.ts'
import { filesIn } from './zip.ts'

/** Whether the archive has all files of a genuine one, with these contents, and no other. */
export function isGenuine({ files, genuine }: Pick<Work, 'files' | 'genuine'>): boolean {
  return [...genuine.archives.values()].some((zip) => {
    const theirs = filesIn(zip)
    return theirs.length === files.size && theirs.every(([name, content]) => files.get(name)?.equals(content))
  })
}

/** Whether the archive has only events that versions before salts recorded, so that the signer may be unknown. */
export const hasOldEventsOnly = (work: Work): boolean =>
  pairedNames(work).every((name) =>
    pairsIn(work, name).every(({ event, proof }) => {
      const line = parsed(Line, event)
      const known = line && recordAt(work.genuine, line.stream, line.revision)
      return parsed(Proof, proof)?.leaf !== undefined || (known !== undefined && !isSalted(known[1]))
    }),
  )

/**
 * What is false in what the verifier says is proved, by what the ledger recorded. An accepted archive may say less than that, and
 * never more.
 * @returns sentences; none when all of it is true
 */
export function lies(work: Work, proved: ProvedArchive): string[] {
  const found = [
    ...linesLies(work, proved),
    ...ownerLies(work, proved),
    ...signerLies(work, proved),
    ...checkpointLies(work, proved),
  ]
  const own = proved.license.revision
  const stream = `license-${proved.licenseId}`
  const revisions = linesWithProofs(work).flatMap(({ line }) =>
    line.stream === stream ? [line.revision] : [],
  )
  if (Math.max(-1, ...revisions) !== own) found.push(`the license does not end with revision ${own}`)
  return found
}

const linesWithProofs = (work: Work): { line: Line; proof: Proof; text: string }[] =>
  pairedNames(work).flatMap((name) =>
    pairsIn(work, name).flatMap(({ event, proof }) => {
      const [line, read] = [parsed(Line, event), parsed(Proof, proof)]
      return line && read ? [{ line, proof: read, text: event }] : []
    }),
  )

const nameOf = ({
  stream,
  revision,
  type,
}: {
  stream?: unknown
  revision?: unknown
  type?: unknown
}): string => JSON.stringify([stream, Number(revision) + 0, type])

function linesLies(work: Work, proved: ProvedArchive): string[] {
  const lines = linesWithProofs(work)
  const withheld = lines.filter(({ proof }) => proof.leaf !== undefined)
  const told = lines.filter(({ proof }) => proof.leaf === undefined)
  const partly = told.filter(({ proof }) => proof.open !== undefined)
  const found = told
    .filter((each) => !isRecorded(work, each.line))
    .map(({ text }) => `no such event: ${text.slice(0, 200)}`)
  if (proved.events !== told.length) found.push(`${proved.events} events, and not ${told.length}`)
  if (
    proved.license.events !== told.filter(({ line }) => line.stream === `license-${proved.licenseId}`).length
  )
    found.push(`${proved.license.events} events of the license`)
  if (String(proved.withheld.map(nameOf)) !== String(withheld.map(({ line }) => nameOf(line))))
    found.push(`withheld are others than ${JSON.stringify(proved.withheld)}`)
  if (String(proved.keyWithheld.map(nameOf)) !== String(partly.map(({ line }) => nameOf(line))))
    found.push(`keys are withheld of others than ${JSON.stringify(proved.keyWithheld)}`)
  const sentences = proved.notProved.join('\n')
  for (const { line } of withheld)
    if (!sentences.includes(`revision ${line.revision + 0}`))
      found.push(`${nameOf(line)} is not among what is not proved`)
  return found
}

/** Whether a line shows what was recorded; its position is none of the log. */
function isRecorded({ genuine }: Work, line: Line): boolean {
  const known = recordAt(genuine, line.stream, line.revision + 0)
  if (!known) return false
  const shown = shownOf(known[1], '')
  const metadata = { ...shown.metadata, ...('salt' in line.metadata ? {} : { salt: undefined }) }
  const expected = { ...shown, metadata: JSON.parse(JSON.stringify(metadata)) as object }
  return canonical({ ...line, position: '' }) === canonical(expected)
}

/** The license is of the tenant that its first event names, and a hostile tenant may sign for one of another. */
function ownerLies({ genuine }: Work, { licenseId, tenantId }: ProvedArchive): string[] {
  if (tenantId === null) return []
  const first = recordAt(genuine, `license-${licenseId}`, 0)
  const owner = first && shownOf(first[1], '').data.tenantId
  return owner === tenantId ? [] : [`the license is of ${tenantId}, and not of ${String(owner)}`]
}

/** A known signer answers for all files, so they are genuine. Another tenant answers for itself only. */
function signerLies(work: Work, { signer, notProved }: ProvedArchive): string[] {
  if (signer.known === 'no' || signer.tenantId === work.genuine.hostile.tenantId)
    return notProved.length === 0 ? ['all is proved, and the vendor has not signed it'] : []
  const others = (files: ReadonlyMap<string, Buffer>) =>
    new Map([...files].filter(([name]) => name !== 'signature.json'))
  const ours = others(work.files)
  return [...work.genuine.archives.keys()].some((name) => {
    const theirs = others(beginWith(work.genuine, name).files)
    return (
      theirs.size === ours.size && [...theirs].every(([file, content]) => ours.get(file)?.equals(content))
    )
  })
    ? []
    : ['the vendor has not signed this']
}

function checkpointLies({ genuine }: Work, { checkpoint }: ProvedArchive): string[] {
  const { size, root } = checkpoint
  if (size > genuine.records.length) return [`the log has no ${size} events`]
  return treeAt(genuine, size).root().equals(root) ? [] : ['the log has another root']
}

/** Whether the forger's own format makes of the genuine records the roots that the log signed. */
export const rootsAreGenuine = (work: Work): boolean =>
  [...work.genuine.archives.keys()].every((name) => {
    const [, size, root] =
      beginWith(work.genuine, name).files.get('proofs/checkpoint')?.toString().split('\n') ?? []
    return treeAt(work.genuine, Number(size)).root().toString('base64') === root
  })
