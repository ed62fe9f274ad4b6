import { useFlags } from "@pennon/react";

/** Lists all flags of the environment, evaluated for the signed-in user. */
export function Flags() {
  const flags = Object.entries(useFlags());
  return (
    <table>
      <caption>All flags</caption>
      <tbody>
        {flags.map(([key, isOn]) => (
          <tr key={key}>
            <th scope="row">{key}</th>
            <td>{isOn ? "on" : "off"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
