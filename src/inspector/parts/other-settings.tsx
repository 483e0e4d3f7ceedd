import type { ExplorationDocument } from '../../explore/exploration-document.ts'
import { idInWords, LEVELS, rankOf } from '../model/levels.ts'
import { Chapter } from './chapter.tsx'
import { CopyBox } from './copy-button.tsx'

type OtherSetting = NonNullable<ExplorationDocument['assumptions']>[number]

/** What came of the command under each other setting of the service, the worst first; nothing where none was tried. */
export function OtherSettings({ exploration }: { exploration: ExplorationDocument }) {
  const { assumptions = [], assumption_outcomes: names = {} } = exploration
  const order = Object.keys(names)
  const rank = ({ level, outcome }: OtherSetting) => rankOf(level) * (order.length + 1) + order.indexOf(outcome)
  return (
    <Chapter title="Other settings of the service" note={assumptions.length}>
      <ul class="list">
        {assumptions
          .toSorted((a, b) => rank(a) - rank(b))
          .map((one) => (
            <Setting key={one.id} result={one} name={names[one.outcome]?.name ?? idInWords(one.outcome)} />
          ))}
      </ul>
    </Chapter>
  )
}

function Setting({ result, name }: { result: OtherSetting; name: string }) {
  const { id, level, outcome, means, sentences, findings, repeat } = result
  const { tone, sign } = LEVELS[level]
  const isWrong = outcome === 'breaks' || tone === 'bad'
  return (
    <li>
      <b class={tone}>{sign}</b>
      <div>
        {name}: <code>{id.replace('assumption ', '')}</code>
        <p class="mute">
          {means} {isWrong ? '' : `${sentences.join('; ')}.`}
        </p>
        {isWrong && (
          <>
            <ul class="plain">
              {[...sentences, ...findings.map(({ title, fix }) => `${title}. ${fix}`)].map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
            <CopyBox label="See it again" text={repeat} />
          </>
        )}
      </div>
    </li>
  )
}
