/** A field of a form. */
export interface FieldProps {
  label: string
  value: string
  set(value: string): void
}

interface InputProps extends FieldProps {
  placeholder?: string
  /** True if the text must not be read by others. */
  isSecret?: boolean
}

/** A text with its label. */
export function Field({ title, ...input }: InputProps & { title?: string | undefined }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the input is within
    <label title={title}>
      {input.label}
      <Input {...input} />
    </label>
  )
}

/** A text whose label is for screen readers alone. */
export function Input({ label, value, set, placeholder = '', isSecret = false }: InputProps) {
  return (
    <input
      type={isSecret ? ('password' as 'text') : 'text'}
      aria-label={label}
      placeholder={placeholder}
      value={value}
      onInput={({ currentTarget }) => set(currentTarget.value)}
    />
  )
}

/** One of several. `words`: how an option is shown. */
export function Choice({
  label,
  value,
  set,
  options,
  words = (one) => one,
}: FieldProps & { options: readonly string[]; words?(option: string): string }) {
  return (
    <label>
      {label}
      <select value={value || options[0]} onChange={({ currentTarget }) => set(currentTarget.value)}>
        {options.map((one) => (
          <option key={one} value={one}>
            {words(one)}
          </option>
        ))}
      </select>
    </label>
  )
}
