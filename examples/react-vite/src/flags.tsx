import { useFlags } from "@pennon/react";

/** All flags of the environment, as they are for whoever is signed in. */
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
