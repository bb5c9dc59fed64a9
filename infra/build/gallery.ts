/** Writes the page of all pictures that `npm run pictures` took, and copies those that the documentation shows. */
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { capitalized } from '../../src/sentence.ts'

const directory = fileURLToPath(new URL('../../dist/pictures/', import.meta.url))

/** The pictures of the documentation, by their names there. */
export const shown: Readonly<Record<string, string>> = {
  home: 'dashboard/home-light',
  license: 'dashboard/license-light',
  'metered-license': 'dashboard/metered-license-light',
  approval: 'dashboard/approval-light',
  portal: 'portal/license-light',
  'connect-stripe': 'journey/03-connect-stripe-desktop',
  sale: 'journey/06-sale-desktop',
  'full-license': 'journey/08-license-desktop',
}

/** The folders of pictures in their order, with the title of each. */
const titles: Record<string, string> = {
  dashboard: 'Dashboard',
  journey: 'The first sale',
  portal: "The customers' portal",
}

/** How the name of a picture ends: it is of a page, in one of several appearances. */
const appearance = /-(light|dark|phone|desktop)$/

/** @returns the Markdown of the page that shows every picture, a page of the product in each row */
function gallery(): string {
  const folders = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
  const parts = folders.flatMap((folder) => [`## ${titles[folder] ?? folder}`, '', ...picturesIn(folder), ''])
  return ['# Every page', '', ...parts].join('\n')
}

function picturesIn(folder: string): string[] {
  const names = readdirSync(`${directory}${folder}`)
    .filter((name) => name.endsWith('.png'))
    .map((name) => basename(name, '.png'))
    .sort()
  const pages = Map.groupBy(names, (name) => name.replace(appearance, ''))
  return Array.from(pages, ([page, pictures]) => {
    const links = pictures.map(
      (name) => `[${appearance.exec(name)?.[1] ?? 'picture'}](${folder}/${name}.png)`,
    )
    return `- ${titleOf(page)}: ${links.join(' · ')}`
  })
}

/** `02-new-product` is read as `New product`. */
function titleOf(page: string): string {
  return capitalized(page.replace(/^\d+-/, '').replaceAll('-', ' '))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(`${directory}README.md`, gallery())
  for (const [name, from] of Object.entries(shown)) {
    copyFileSync(
      `${directory}${from}.png`,
      fileURLToPath(new URL(`../../docs/pictures/${name}.png`, import.meta.url)),
    )
  }
}
