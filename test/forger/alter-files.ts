import { checkpointOf, keysOf, signatureLine, vkeyOf } from './keys.ts'
import { EventRecord, entryOf } from './record.ts'
import { leafOf, treeOf } from './tree.ts'
import {
  type Alteration,
  archiveNamed,
  base64Proof,
  Line,
  Proof,
  pairedNames,
  pairsIn,
  parsed,
  proofsName,
  recordAt,
  setPairs,
  sizeIn,
  treeAt,
  type Work,
} from './work.ts'
import { filesIn } from './zip.ts'

/** The seed of the forger's keys. */
export const forgerSeed = 99

/** Names that no archive has. */
const oddNames = (name: string): string[] => [
  name.toUpperCase(),
  name.replace('e', 'E'),
  `./${name}`,
  `../${name}`,
  `/${name}`,
  `C:\\${name}`,
  `a/../${name}`,
  name.replace('/', '\\') === name ? `\\${name}` : name.replace('/', '\\'),
  name.replace('/', '//') === name ? `//${name}` : name.replace('/', '//'),
  `${name}/`,
  `${name}\0`,
  `${name}\0.txt`,
  `${name} `,
  `${name}.`,
  `${name}\n`,
  `${name}\u200b`,
  `\u202e${name}`,
  name.replace('e', '\u0435'),
  name.replace('e', 'e\u0301'),
  name.replace('s', '\u017f'),
  name.replace('-0001', '-1'),
  name.replace('-0001', '-00001'),
  name.replace('-0001', '-0000'),
  name.replace('-0001', '-\u0660\u0661'),
  name.replace('.json', '.JSON'),
  `events/${name}`,
  `${name}:stream`,
  '',
  '.',
  '..',
  '__proto__',
  'constructor',
  `${'n'.repeat(65_000)}.json`,
  'events/',
  'events/a/b-0001.jsonl',
  'proofs/checkpoint/',
  'proofs/checkpoint-0001.jsonl.json',
]

const isOfArchive = (name: string): boolean =>
  /^(README\.txt|[a-z]+\.(json|html|mjs)|((events|proofs)\/)?[a-z]+-\d{4,}\.jsonl|notifications\/\d{4,}\.txt|proofs\/(checkpoint|keys\.txt))$/.test(
    name,
  )

/** Another name for a file. */
export const rename: Alteration = ({ files }, random) => {
  const name = random.of([...files.keys()])
  const other = random.of(oddNames(name).filter((odd) => !files.has(odd)))
  const content = files.get(name)
  if (!content) return undefined
  files.delete(name)
  files.set(other, content)
  return {
    verdict: isOfArchive(other) ? 'partly' : 'refused',
    touched: [name, other.trim(), proofsName(name), name.replace('proofs/', 'events/')],
    remains: (later) => later.files.has(other),
  }
}

/** A file more. */
export const add: Alteration = ({ files }, random) => {
  const like = random.of([...files.keys()])
  const name = random.of([
    ...oddNames(like),
    'extra.json',
    'extra.html',
    'notifications/0009.txt',
    'events/extra-0001.jsonl',
    'proofs/extra-0001.jsonl',
  ])
  if (files.has(name)) return undefined
  files.set(name, random.of([files.get(like) ?? Buffer.alloc(0), Buffer.alloc(0), Buffer.from('forged\n')]))
  const isFree = isOfArchive(name) && !/^(events|proofs)\//.test(name)
  return {
    verdict: isFree ? 'partly' : 'refused',
    touched: [name.trim(), name.replace('events/', 'proofs/'), name.replace('proofs/', 'events/')],
    remains: (later) =>
      later.files.has(name) &&
      !(pairedNames(later).includes(name) || pairedNames(later).map(proofsName).includes(name)),
  }
}

/** A file less. */
export const remove: Alteration = ({ files }, random) => {
  const name = random.of([...files.keys()])
  files.delete(name)
  const other = name.startsWith('events/') ? proofsName(name) : name.replace('proofs/', 'events/')
  const isNeeded = /^(events|proofs)\//.test(name) && name !== 'proofs/keys.txt'
  return {
    verdict: isNeeded ? 'refused' : 'partly',
    touched: [name, other],
    remains: (later) => !later.files.has(name) && (name === 'proofs/checkpoint' || later.files.has(other)),
  }
}

/** The content of a file that no event proves. Nobody but the signer answers for it. */
export const rewrite: Alteration = ({ files }, random) => {
  const name = random.of([...files.keys()].filter((each) => !/^(events|proofs)\//.test(each)))
  const before = files.get(name)
  if (!before || before.length === 0) return undefined
  const at = random.below(before.length)
  files.set(
    name,
    random.of([
      Buffer.from('forged'),
      Buffer.concat([before.subarray(0, at), Buffer.from('!'), before.subarray(at)]),
      Buffer.alloc(0),
    ]),
  )
  return { verdict: 'partly', touched: [name] }
}

/** A file of another archive in the place of this one's. */
export const mix: Alteration = ({ files, genuine, base }, random) => {
  const other = random.of([...genuine.archives.keys()].filter((name) => name !== base))
  const theirs = new Map(filesIn(archiveNamed(genuine, other)))
  const name = random.of(
    [...theirs.keys()].filter((each) => !theirs.get(each)?.equals(files.get(each) ?? Buffer.alloc(0))),
  )
  const names =
    random.below(2) === 0 || !/^(events|proofs)\/.*jsonl$/.test(name)
      ? [name]
      : [name, proofsName(name), name.replace('proofs/', 'events/')]
  for (const each of names) files.set(each, theirs.get(each) ?? Buffer.alloc(0))
  const streams = ['events/', 'proofs/'].map((folder) => name.replace(/^(events|proofs)\//, folder))
  return { verdict: 'partly', touched: [...names, ...streams, 'license-', 'signing-', 'checkpoint'] }
}

/** Lines of another archive among those of this one. */
export const mixLines: Alteration = (work, random) => {
  const { genuine, base } = work
  const other = random.of([...genuine.archives.keys()].filter((name) => name !== base))
  const theirs: Work = { genuine, base: other, files: new Map(filesIn(archiveNamed(genuine, other))) }
  const names = pairedNames(work).filter((name) => pairedNames(theirs).includes(name))
  if (names.length === 0) return undefined
  const name = random.of(names)
  const [ours, added] = [pairsIn(work, name), pairsIn(theirs, name)]
  const from = random.below(ours.length + 1)
  setPairs(work, name, [
    ...ours.slice(0, from),
    ...added.slice(random.below(added.length)),
    ...ours.slice(from),
  ])
  return { verdict: 'partly', touched: [name, proofsName(name), 'license-', 'signing-'] }
}

/** All proofs again, for another checkpoint that the log signed: that is true. */
export const coverAgain: Alteration = (work, random) => {
  const { genuine } = work
  const checkpoint = random.of([
    ...genuine.kept,
    ...[...genuine.archives.values()].map(
      (zip) => new Map(filesIn(zip)).get('proofs/checkpoint')?.toString() ?? '',
    ),
  ])
  work.files.set('proofs/checkpoint', Buffer.from(checkpoint))
  const size = sizeIn(work)
  const tree = treeAt(genuine, size)
  for (const name of pairedNames(work))
    setPairs(
      work,
      name,
      pairsIn(work, name).map(({ event, proof }) => {
        const line = parsed(Line, event)
        const before = parsed(Proof, proof)
        const index = line && recordAt(genuine, line.stream, line.revision)?.[0]
        return before === undefined || index === undefined || index >= size || before.index !== index
          ? { event, proof }
          : { event, proof: JSON.stringify({ ...before, proof: base64Proof(tree, index) }) }
      }),
    )
  return {
    verdict: 'partly',
    touched: [
      'checkpoint',
      'license-',
      'signing-',
      ...pairedNames(work),
      ...pairedNames(work).map(proofsName),
    ],
  }
}

/** A log of the forger with the origin of the true one, in which every line stands as it is. */
export const ownLog: Alteration = (work, random) => {
  const { genuine } = work
  const origin = genuine.checkpoint.split('\n')[0] ?? ''
  const keys = keysOf(forgerSeed)
  const lines = pairedNames(work).flatMap((name) =>
    pairsIn(work, name).map(({ event, proof }) => ({ name, event, proof })),
  )
  const leaves = lines.map(({ event, proof }) => {
    const { record, leaf } = parsed(Proof, proof) ?? {}
    const known = parsed(EventRecord, record ?? event)
    return leaf === undefined && known ? leafOf(entryOf(known)) : Buffer.from(leaf ?? '', 'base64')
  })
  if (leaves.length === 0) return undefined
  const tree = treeOf(leaves)
  for (const name of pairedNames(work))
    setPairs(
      work,
      name,
      pairsIn(work, name).map((pair) => {
        const index = lines.findIndex(({ event, proof }) => event === pair.event && proof === pair.proof)
        const before = parsed(Proof, pair.proof)
        return before
          ? { ...pair, proof: JSON.stringify({ ...before, index, proof: base64Proof(tree, index) }) }
          : pair
      }),
    )
  const own = checkpointOf(origin, leaves.length, tree.root(), keys)
  const theirs = genuine.checkpoint.split('\n').slice(4).join('\n')
  const checkpoint = random.of([
    own,
    `${own}${theirs}`,
    own.replace(/\u2014.*\n/, theirs),
    own.replace(/\n\u2014.*\n/, '\n'),
  ])
  work.files.set('proofs/checkpoint', Buffer.from(checkpoint))
  work.files.set('proofs/keys.txt', Buffer.from(`${vkeyOf(origin, keys)}\n`))
  return {
    verdict: 'refused',
    touched: ['checkpoint', 'license-', 'signing-', ...pairedNames(work)],
    remains: ({ files }) => files.get('proofs/checkpoint')?.toString() === checkpoint,
  }
}

/** The text of the checkpoint. What the log signed cannot be changed, but others may sign, too. */
export const bendCheckpoint: Alteration = (work, random) => {
  const before = work.files.get('proofs/checkpoint')?.toString()
  if (before === undefined || before.length > 10_000) return undefined
  const [origin = '', size = '', root = ''] = before.split('\n')
  const keys = keysOf(forgerSeed)
  const text = `${origin}\n${size}\n${root}\n`
  const signature = before.slice(text.length + 1)
  const { verdict, after } = random.of([
    { verdict: 'partly', after: `${before}${signatureLine('forger.example', keys, text)}` },
    { verdict: 'partly', after: `${before}${signatureLine(origin, keys, text)}` },
    { verdict: 'partly', after: `${text}\n${signatureLine('forger.example', keys, text)}${signature}` },
    { verdict: 'refused', after: `${text}\n${signatureLine(origin, keys, text)}` },
    { verdict: 'refused', after: before.replace(size, String(Number(size) + 1)) },
    { verdict: 'refused', after: before.replace(size, `0${size}`) },
    { verdict: 'refused', after: before.replace(size, `${size}e0`) },
    { verdict: 'refused', after: before.replace(size, `9007199254740993`) },
    { verdict: 'refused', after: before.replace(root, Buffer.alloc(32).toString('base64')) },
    { verdict: 'refused', after: before.replace(origin, 'licenses.example.org') },
    { verdict: 'refused', after: before.replace(origin, `${origin} `) },
    { verdict: 'refused', after: before.replace(`${root}\n`, `${root}\nextension of the forger\n`) },
    { verdict: 'refused', after: before.replaceAll('\n', '\r\n') },
    { verdict: 'refused', after: `\n${before}` },
    { verdict: 'refused', after: before.replace('\u2014', '-') },
    { verdict: 'refused', after: before.slice(0, -8) },
    { verdict: 'refused', after: text },
    { verdict: 'refused', after: '' },
    { verdict: 'refused', after: `${before}${signature.repeat(20_000)}` },
  ] as const)
  if (after === before) return undefined
  work.files.set('proofs/checkpoint', Buffer.from(after))
  return {
    verdict,
    touched: ['checkpoint', 'licenses.example'],
    remains: ({ files }) => files.get('proofs/checkpoint')?.toString() === after,
  }
}
