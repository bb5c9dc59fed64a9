import { readdirSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

const directory = fileURLToPath(new URL('../docs/pictures/', import.meta.url))

/** The folders of pictures in their order, with the title of each. */
const titles: Record<string, string> = {
  dashboard: 'Dashboard',
  journey: 'The first sale',
  portal: "The customers' portal",
}

/** How the name of a picture ends: it is of a page, in one of several appearances. */
const appearance = /-(light|dark|phone|desktop)$/

/** @returns the Markdown of the page that shows every picture, a page of the product in each row */
export function gallery(): string {
  const folders = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
  const parts = folders.flatMap((folder) => [`## ${titles[folder] ?? folder}`, '', ...picturesIn(folder), ''])
  return [
    '# Every page',
    '',
    '`npm run pictures` takes these pictures and writes this page.',
    '',
    ...parts,
  ].join('\n')
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
  const words = page.replace(/^\d+-/, '').replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(`${directory}README.md`, gallery())
