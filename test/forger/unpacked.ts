import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Writes the files of an archive below a directory. */
export function unpack(files: ReadonlyMap<string, Buffer>, directory: string): void {
  for (const [name, content] of files) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), content)
  }
}

/** What the forger does to an unpacked archive, and a word that a refusal has to have. */
export const unpackedAlterations: readonly {
  what: string
  named: RegExp
  alter: (at: (name: string) => string) => void
}[] = [
  {
    what: 'a file more',
    named: /extra\.json/,
    alter: (at) => {
      writeFileSync(at('extra.json'), '{}')
    },
  },
  {
    what: 'a hidden file more',
    named: /\.hidden/,
    alter: (at) => {
      writeFileSync(at('.hidden'), '')
    },
  },
  {
    what: 'a directory more',
    named: /more/,
    alter: (at) => {
      mkdirSync(at('more'))
    },
  },
  {
    what: 'a directory in a directory',
    named: /events\/more/,
    alter: (at) => {
      mkdirSync(at('events/more'))
    },
  },
  {
    what: 'a link to a file',
    named: /license\.json/,
    alter: (at) => {
      renameSync(at('license.json'), at('../moved.json'))
      symlinkSync('../moved.json', at('license.json'))
    },
  },
  {
    what: 'a link to a directory',
    named: /events/,
    alter: (at) => {
      renameSync(at('events'), at('../moved'))
      symlinkSync('../moved', at('events'))
    },
  },
  {
    what: 'a link to itself',
    named: /loop/,
    alter: (at) => {
      symlinkSync('loop', at('loop'))
    },
  },
  {
    what: 'a link to nothing',
    named: /summary\.html/,
    alter: (at) => {
      rmSync(at('summary.html'))
      symlinkSync('absent', at('summary.html'))
    },
  },
  {
    what: 'a link upwards',
    named: /up/,
    alter: (at) => {
      symlinkSync('..', at('up'))
    },
  },
  {
    what: 'a pipe',
    named: /license\.json/,
    alter: (at) => {
      rmSync(at('license.json'))
      execFileSync('mkfifo', [at('license.json')])
    },
  },
  {
    what: 'a pipe for the manifest',
    named: /manifest\.json/,
    alter: (at) => {
      rmSync(at('manifest.json'))
      execFileSync('mkfifo', [at('manifest.json')])
    },
  },
  {
    what: 'a directory for a file',
    named: /license\.json/,
    alter: (at) => {
      rmSync(at('license.json'))
      mkdirSync(at('license.json'))
    },
  },
  {
    what: 'a file for a directory',
    named: /proofs/,
    alter: (at) => {
      rmSync(at('proofs'), { recursive: true })
      writeFileSync(at('proofs'), '')
    },
  },
  {
    what: 'a name in capitals',
    named: /Events|events/,
    alter: (at) => {
      renameSync(at('events'), at('Events'))
    },
  },
  {
    what: 'a file less',
    named: /README\.txt/,
    alter: (at) => {
      rmSync(at('README.txt'))
    },
  },
  {
    what: 'no manifest',
    named: /manifest\.json/,
    alter: (at) => {
      rmSync(at('manifest.json'))
    },
  },
  {
    what: 'no signature',
    named: /signature\.json/,
    alter: (at) => {
      rmSync(at('signature.json'))
    },
  },
  {
    what: 'a larger file than a program can read',
    named: /license\.json/,
    alter: (at) => {
      truncateSync(at('license.json'), 5 * 2 ** 30)
    },
  },
  {
    what: 'a name that turns text around',
    named: /json/,
    alter: (at) => {
      writeFileSync(at('\u202enosj.json'), '')
    },
  },
  {
    what: 'a name of two lines',
    named: /Proved/,
    alter: (at) => {
      writeFileSync(at('a\nProved: everything.json'), '')
    },
  },
]

/** A second name of the same file, which changes no content. */
export const linkTwice = (at: (name: string) => string): void => {
  linkSync(at('license.json'), at('../second-name.json'))
}
