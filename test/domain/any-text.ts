import fc from 'fast-check'

const codePoint = fc.integer({ min: 0, max: 0x10_ff_ff }).map((code) => String.fromCodePoint(code))
const latin = fc.integer({ min: 0, max: 0x24f }).map((code) => String.fromCodePoint(code))

/** Text of any code points, half of them Latin. fast-check's own unit for this takes seconds to build. */
export const anyText = fc.string({ unit: fc.oneof(latin, codePoint), maxLength: 100 })
