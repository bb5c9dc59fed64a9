/**
 * The stylesheet of the summary, for light and dark screens and for paper. It contains nothing that needs
 * escaping.
 */
export const stylesheet = `
:root { color-scheme: light dark; --ink: #1c1f24; --quiet: #5c6470; --line: #dfe3e8; --paper: #fff; --ground: #f4f5f7; --mark: #3458c9 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --quiet: #9aa3af; --line: #31363f; --paper: #1a1d22; --ground: #121418; --mark: #8ea6f5 }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 56rem; margin: 2rem auto; padding: 2.5rem; background: var(--paper); border: 1px solid var(--line); border-radius: 12px }
header { border-bottom: 1px solid var(--line); padding-bottom: 1.25rem }
header p { margin: 0; color: var(--quiet) }
h1 { margin: .25rem 0; font-size: 2rem; letter-spacing: .02em }
h2 { margin: 2.25rem 0 .75rem; font-size: 1.15rem }
h3 { margin: 1.25rem 0 .5rem; font-size: .9rem; color: var(--quiet); font-weight: 600 }
.id { font: 13px ui-monospace, monospace }
dl { margin: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .9rem 1.5rem }
dt { color: var(--quiet); font-size: .8rem }
dd { margin: 0; overflow-wrap: anywhere }
.wide { overflow-x: auto; margin-top: 1rem }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums }
th { text-align: left; color: var(--quiet); font-size: .8rem; font-weight: 600 }
th, td { padding: .5rem 1rem .5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere }
ol { list-style: none; margin: 0; padding: 0 0 0 1rem; border-left: 2px solid var(--line) }
li { display: flex; gap: 1rem; padding: .35rem 0; position: relative }
li::before { content: ''; position: absolute; left: -1.31rem; top: .8rem; width: .5rem; height: .5rem; border-radius: 50%; background: var(--mark) }
time { color: var(--quiet); font-variant-numeric: tabular-nums }
small { display: block; color: var(--quiet) }
footer { margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--quiet) }
@media (max-width: 40rem) { main { margin: 0; padding: 1.25rem; border: 0; border-radius: 0 } }
@media print { body { background: none } main { margin: 0; padding: 0; border: 0; max-width: none } .day li { break-inside: avoid } }
`
