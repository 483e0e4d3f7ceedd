import { Component, type ComponentChildren } from 'preact'
import { openedFile, showFile } from '../model/opened-file.ts'
import { readFile, refused } from '../model/read-file.ts'

/** A button that chooses a file to be shown. */
export function FileChooser() {
  return (
    <label class="button file">
      Open a saved report, exploration or certificate
      <input
        class="sr"
        type="file"
        accept=".json,.html,.htm"
        onChange={({ currentTarget: { files } }) => files?.[0] && void readFile(files[0]).then(showFile)}
      />
    </label>
  )
}

/** Shows a file; one that is not as this version writes it leads to one sentence instead of a broken page. */
export class FileGuard extends Component<{ children: ComponentChildren }> {
  override componentDidCatch(error: unknown): void {
    if (!openedFile.value) throw error
    openedFile.value = refused(openedFile.value.name)
  }

  override render() {
    return this.props.children
  }
}
