/** An element of a well-formed document. */
export interface XmlElement {
  name: string
  attributes: Record<string, string>
  children: XmlElement[]
  text: string
}

const NAME = '[A-Za-z_][\\w.-]*'
const TOKEN = new RegExp(`<(/)?(${NAME})((?:\\s+${NAME}="[^"<]*")*)\\s*(/)?>|([^<]+)`, 'y')
const ENTITY = /&(amp|lt|gt|quot|#39);/g
const VALUES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** Reads the plain XML that JUnit files are of, strictly: whatever is not well-formed XML 1.0 throws. */
export function parseXml(text: string): XmlElement {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what XML forbids
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/u.test(text))
    throw new Error('a character that XML cannot hold')
  const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n'
  if (!text.startsWith(declaration)) throw new Error('no declaration')
  const top: XmlElement = { name: '', attributes: {}, children: [], text: '' }
  const open = [top]
  for (let at = declaration.length; at < text.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at
    const [all, closing, name, attributes = '', empty, words] = TOKEN.exec(text) ?? []
    const here = open.at(-1)!
    if (all === undefined) throw new Error(`no XML: ${text.slice(at, at + 60)}`)
    if (words !== undefined) here.text += unescaped(words)
    else if (closing) {
      if (here.name !== name) throw new Error(`</${name}> ends <${here.name}>`)
      open.pop()
    } else {
      const element = { name: name!, attributes: read(attributes), children: [], text: '' }
      here.children.push(element)
      if (!empty) open.push(element)
    }
  }
  if (open.length !== 1 || top.children.length !== 1) throw new Error('not one document')
  return top.children[0]!
}

function read(attributes: string): Record<string, string> {
  const found = [...attributes.matchAll(/([\w.-]+)="([^"]*)"/g)].map(
    ([, name, value]) => [name!, unescaped(value!)] as const,
  )
  const object = Object.fromEntries(found)
  if (Object.keys(object).length !== found.length) throw new Error('an attribute twice')
  return object
}

function unescaped(text: string): string {
  if (text.replace(ENTITY, '').includes('&') || text.includes(']]>'))
    throw new Error(`not escaped: ${text.slice(0, 60)}`)
  return text.replace(ENTITY, (_all, name: string) => VALUES[name] ?? '')
}
